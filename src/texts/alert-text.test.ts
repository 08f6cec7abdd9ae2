import { describe, expect, test } from 'vitest';
import { ALERT_CONDITION_KINDS, type AlertConditionKind } from '#src/domain/alert.ts';
import type { AlertIncident } from '#src/domain/alert-incident.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import type { AlertConditionId, AlertIncidentId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { incidentContent, incidentWords, testContent } from './alert-text.ts';

const START = instant(Date.UTC(2026, 10, 15, 8));
const PLACE = { project: 'shop', mode: 'live', dashboard: 'https://sched.example/dashboard' } as const;

function incident(kind: AlertConditionKind, given: Partial<AlertIncident> = {}): AlertIncident {
  return {
    partition: 1 as Partition,
    id: 'inc_1' as AlertIncidentId,
    conditionId: 'alc_1' as AlertConditionId,
    endpoint: null,
    begunAt: START,
    quietSince: null,
    remindedAt: null,
    endedAt: null,
    detail: { kind, threshold: 1_000, windowMinutes: 1, endpointName: null, count: 10_000 },
    revision: 1,
    ...given,
  };
}

test('the content names incident, project and page', () => {
  const endedAt = instant(START + 1);
  expect(incidentContent('closed', incident('deliveries_failed', { endedAt }), PLACE)).toEqual({
    title: 'Failures are over: at most 1,000 in 1 minute',
    text: 'For 5 minutes, at most 1,000 deliveries were dead-lettered or expired in 1 minute.',
    url: 'https://sched.example/dashboard/p/shop/live/alerts/inc_1',
    project: 'shop',
    mode: 'live',
    incident: {
      id: 'inc_1',
      condition_id: 'alc_1',
      kind: 'deliveries_failed',
      endpoint: null,
      opened_at: '2026-11-15T08:00:00.000Z',
      closed_at: '2026-11-15T08:00:00.001Z',
    },
  });
  expect(testContent({ ...PLACE, dashboard: null })).toMatchObject({ url: null, incident: null });
});

describe.each(ALERT_CONDITION_KINDS)('the words about %s', (kind) => {
  test.each(['opened', 'reminder', 'closed'] as const)('%s are sentences', (message) => {
    const about = incident(kind, {
      endpoint: endpointKeyOf({ endpointId: null, url: 'https://a.example/b' }),
    });
    const { title, text } = incidentWords(message, about);
    expect(title.length).toBeLessThanOrEqual(150);
    expect(title).not.toMatch(/[.!]$|undefined|null/);
    for (const sentence of text.split(/(?<=\.) /)) expect(sentence).toMatch(/^[A-Z0-9].*\.$/);
    expect(text).not.toMatch(/undefined|null/);
    if (message === 'reminder') expect(text).toContain('2026-11-15T08:00:00.000Z');
  });
});

test('endpoints that share an incident are not named', () => {
  const shared = incident('breaker_opened');
  expect(incidentWords('opened', shared).title).toBe('More than 20 breakers are open');
  expect(incidentWords('closed', shared).title).toBe('No further breakers are open');
});

test('a breaker that did not close is not said to be closed', () => {
  const endpoint = endpointKeyOf({ endpointId: null, url: 'https://a.example/b' });
  const { title, text } = incidentWords('unused', incident('breaker_opened', { endpoint }));
  expect(title).toBe('No more deliveries: https://a.example/b');
  expect(text).not.toMatch(/has been closed/);
});

test('one failed delivery is in the singular', () => {
  const failed = incident('deliveries_failed');
  const { text } = incidentWords('opened', { ...failed, detail: { ...failed.detail, count: 1 } });
  expect(text).toContain('1 delivery was dead-lettered or expired in the last 1 minute.');
});

test('an endpoint is named by its profile, or by its origin: a path may be a credential', () => {
  const named = incident('breaker_opened', { endpoint: 'ep_1' as never });
  const detail = { ...named.detail, endpointName: 'orders' };
  expect(incidentWords('opened', { ...named, detail })).toMatchObject({
    title: 'Breaker open: orders',
    text: expect.stringContaining('the endpoint profile orders (ep_1)'),
  });
  const endpoint = endpointKeyOf({ endpointId: null, url: `https://a.example/secret/@all?key=hidden` });
  const inline = incidentContent('opened', incident('breaker_opened', { endpoint }), PLACE);
  expect(inline.title).toBe('Breaker open: https://a.example/…');
  expect(`${inline.title} ${inline.text}`).not.toMatch(/secret|hidden|@/);
  expect(inline.incident?.endpoint).toBe('https://a.example/secret/@all');
  const long = endpointKeyOf({ endpointId: null, url: `https://a.example/${'x'.repeat(8_000)}` });
  const { title, text } = incidentWords('opened', incident('breaker_opened', { endpoint: long }));
  expect(title.length).toBeLessThan(150);
  expect(text.length).toBeLessThan(1_000);
});
