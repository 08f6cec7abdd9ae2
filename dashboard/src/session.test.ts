import { expect, test } from 'vitest';
import type { SessionInfo } from '../../src/control/http/contract.ts';
import { apiPath, hasRole, hrefInProject, scope, scopeOf, session } from './session.ts';

const SESSION: SessionInfo = {
  user: { id: 'usr_1', name: 'ada', role: 'operator' },
  csrf: 'token',
  projects: [{ id: 'prj_1', name: 'my shop', created_at: '2026-11-15T08:00:00.000Z' }],
  is_dev: false,
  expires_at: '2026-11-16T08:00:00.000Z',
};

test('a scope is a project and a known mode', () => {
  expect(scopeOf('p/my%20shop/live/schedules/sch_1')).toEqual({ project: 'my shop', mode: 'live' });
  expect(scopeOf('p/default/other')).toBeNull();
  expect(scopeOf('settings/account')).toBeNull();
});

test('a user without a remembered scope starts with the first project, in test mode', () => {
  session.value = SESSION;
  expect(scope.value).toEqual({ project: 'my shop', mode: 'test' });
  expect(apiPath('overview?range=1h')).toBe('p/my%20shop/test/overview?range=1h');
  expect(hrefInProject('schedules')).toBe('/dashboard/p/my%20shop/test/schedules');
});

test('a role includes the lower roles', () => {
  session.value = SESSION;
  expect([hasRole('viewer'), hasRole('operator'), hasRole('admin')]).toEqual([true, true, false]);
  session.value = 'none';
  expect(hasRole('viewer')).toBe(false);
});
