/** Builds and adds channels, conditions and incidents of alerts. */
import { expect } from 'vitest';
import type { AlertChannel, AlertCondition } from '#src/domain/alert.ts';
import { type AlertIncident, beginIncident } from '#src/domain/alert-incident.ts';
import { type AlertMessage, createMessage } from '#src/domain/alert-message.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { Fixture } from './fixture.ts';

export function newChannel(fixture: Fixture, given: Partial<AlertChannel> = {}): AlertChannel {
  const now = fixture.tick();
  const id = fixture.ids.mint('chn', now);
  return {
    partition: fixture.partition,
    id,
    kind: 'webhook',
    name: `channel ${id}`,
    sealedUrl: Uint8Array.of(1, 2, 3),
    shownUrl: 'https://a.example/…',
    createdAt: now,
    updatedAt: now,
    revision: 1,
    ...given,
  };
}

export async function addChannel(fixture: Fixture, given: Partial<AlertChannel> = {}): Promise<AlertChannel> {
  const channel = newChannel(fixture, given);
  expect(await fixture.store.alerts.addChannel(channel)).toBe('done');
  return channel;
}

export function newCondition(
  fixture: Fixture,
  given: Partial<AlertCondition> & Pick<AlertCondition, 'channelIds'>,
): AlertCondition {
  const now = fixture.tick();
  return {
    partition: fixture.partition,
    id: fixture.ids.mint('alc', now),
    kind: 'breaker_opened',
    threshold: null,
    windowMinutes: null,
    enabled: true,
    createdAt: now,
    updatedAt: now,
    revision: 1,
    ...given,
  };
}

export async function addCondition(
  fixture: Fixture,
  given: Partial<AlertCondition> = {},
): Promise<AlertCondition> {
  const channelIds = given.channelIds ?? [(await addChannel(fixture)).id];
  const condition = newCondition(fixture, { ...given, channelIds });
  expect(await fixture.store.alerts.addCondition(condition)).toBe('done');
  return condition;
}

export function newIncident(
  fixture: Fixture,
  condition: AlertCondition,
  endpoint: EndpointKey | null,
): AlertIncident {
  const now = fixture.tick();
  return beginIncident(condition, fixture.ids.mint('inc', now), { endpoint, count: 3 }, 'orders', now);
}

export function newMessage(
  fixture: Fixture,
  incident: AlertIncident | null,
  given: Partial<AlertMessage> = {},
): AlertMessage {
  const now = fixture.tick();
  const id = fixture.ids.mint('dlv', now);
  const content = {
    title: 'Breaker open',
    text: `Zoë "Z" ${'x'.repeat(2_000)}`,
    url: null,
    project: 'shop',
    mode: 'test',
    incident: null,
  } as const;
  const about = { partition: fixture.partition, incidentId: incident?.id ?? null };
  const channelId = fixture.ids.mint('chn', now);
  return { ...createMessage({ ...about, id, channelId, kind: 'opened', content }, now), ...given };
}
