import { expect, test } from 'vitest';
import type { SessionInfo } from '../../src/control/http/contract.ts';
import { inProject, may, place, placeOf, session, toPage } from './session.ts';

const SESSION: SessionInfo = {
  user: { id: 'usr_1', name: 'ada', role: 'operator' },
  csrf: 'token',
  projects: [{ id: 'prj_1', name: 'my shop', created_at: '2026-11-15T08:00:00.000Z' }],
  expires_at: '2026-11-16T08:00:00.000Z',
};

test('a place is a project and a mode that there is', () => {
  expect(placeOf('p/my%20shop/live/schedules/sch_1')).toEqual({ project: 'my shop', mode: 'live' });
  expect(placeOf('p/default/other')).toBeNull();
  expect(placeOf('settings/account')).toBeNull();
});

test('somebody without a place of theirs begins at the first project, in test mode', () => {
  session.value = SESSION;
  expect(place.value).toEqual({ project: 'my shop', mode: 'test' });
  expect(inProject('overview?range=1h')).toBe('p/my%20shop/test/overview?range=1h');
  expect(toPage('schedules')).toBe('/dashboard/p/my%20shop/test/schedules');
});

test('a role may what the ones before it may', () => {
  session.value = SESSION;
  expect([may('viewer'), may('operator'), may('admin')]).toEqual([true, true, false]);
  session.value = 'none';
  expect(may('viewer')).toBe(false);
});
