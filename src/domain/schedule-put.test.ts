import { describe, expect, test } from 'vitest';
import { Builders, FAILURE, HOUR_MS, HOURLY, START, SUCCESS } from '#test/store-contract/builders.ts';
import type { Delivery } from './delivery.ts';
import { claim, settle } from './delivery-lifecycle.ts';
import { instant } from './instant.ts';
import type { Partition } from './project.ts';
import type { Schedule, ScheduleView } from './schedule.ts';
import * as life from './schedule-lifecycle.ts';
import { differingFields, equalize, type WantedSchedule } from './schedule-put.ts';

const build = new Builders(1 as Partition);

interface View extends ScheduleView {
  readonly pending: Delivery;
}

function viewOf(given: Partial<life.NewSchedule> = {}): View {
  return { ...build.schedule({ name: 'report', ...given }), profile: given.profile ?? null };
}

function wantedOf(schedule: Schedule, changes: Partial<WantedSchedule> = {}): WantedSchedule {
  return { ...schedule, ...changes };
}

/** Returns what is stored when the schedule is made equal. */
function equal(
  view: ScheduleView,
  changes: Partial<WantedSchedule>,
  { hasNewPayload = false, profile = view.profile } = {},
): View {
  const wanted = wantedOf(view.schedule, changes);
  const done = equalize(view, { wanted, profile, hasNewPayload }, build.now);
  if (typeof done === 'string') throw new Error(done);
  const pending = done.pending ?? view.pending;
  if (pending === null) throw new Error('There is a pending delivery.');
  return { schedule: done.schedule, pending, profile };
}

function afterAttempt(view: View, result = FAILURE): View {
  const claimed = claim(view.pending, 'node-1', build.ids.mint('att', build.now), build.now);
  return { ...view, pending: settle(claimed, result, view.schedule, build.now).delivery };
}

describe('the fields that differ', () => {
  const { schedule } = viewOf({
    timing: HOURLY,
    ttl: '1h',
    metadata: [
      ['a', '1'],
      ['b', '2'],
    ],
  });

  test('are none for the same terms, whatever the order of the labels', () => {
    expect(differingFields(schedule, wantedOf(schedule))).toEqual([]);
    const metadata = schedule.metadata.toReversed();
    expect(differingFields(schedule, wantedOf(schedule, { metadata }))).toEqual([]);
  });

  test.each<[Partial<WantedSchedule>, readonly string[]]>([
    [{ ttl: '2h' }, ['ttl']],
    [{ ttl: null }, ['ttl']],
    [{ timing: { ...HOURLY, timezone: 'Europe/Berlin' } }, ['timezone']],
    [{ timing: { ...HOURLY, cron: '5 * * * *' } as never }, ['cron']],
    [{ timing: { kind: 'one_shot', fireAt: instant(5), timezone: null } }, ['fire_at', 'cron', 'timezone']],
    [{ destination: { kind: 'inline', url: 'https://b.example/', method: 'POST' } }, ['endpoint']],
    [
      { destination: { kind: 'profile', endpointId: 'ep_1' as never } },
      ['endpoint', 'endpoint_id', 'method'],
    ],
    [
      { jitter: '5s', idempotencyKey: 'k', rateLimit: { perSecond: 2 } },
      ['jitter', 'idempotency_key', 'rate_limit'],
    ],
    [{ metadata: [['a', '1']] }, ['metadata']],
  ])('are named: %j', (changes, fields) => {
    expect(differingFields(schedule, wantedOf(schedule, changes))).toEqual(fields);
  });
});

describe('a schedule that is made equal', () => {
  test('keeps its id, name, state and history', () => {
    const view = viewOf({ timing: HOURLY });
    build.tick();
    const { schedule } = equal(view, { ttl: '5m' });
    expect(schedule).toEqual({ ...view.schedule, ttl: '5m', updatedAt: build.now, revision: 2 });
  });

  test('leaves a moved delivery where it is when its timing stays', () => {
    const view = viewOf({ timing: HOURLY });
    const moved = life.reschedule(view, build.oneShot(5 * HOUR_MS), build.now);
    if (moved?.pending === null || moved === null) throw new Error('The delivery was moved.');
    const before: View = { ...view, schedule: moved.schedule, pending: moved.pending };
    // No jitter is the same as one of 0 s.
    const { pending } = equal(before, { ttl: '5m', jitter: '0s' });
    expect(pending.scheduledFor).toBe(before.pending.scheduledFor);
    expect(pending.movedFrom).toBe(view.pending.occurrence);
    expect(equal(before, { timing: { ...HOURLY, cron: '30 * * * *' } as never }).pending).toMatchObject({
      scheduledFor: START + HOUR_MS / 2,
      movedFrom: null,
    });
  });

  test('becomes a one-shot, and recurring again', () => {
    const view = viewOf({ timing: HOURLY, idempotencyKey: 'order' });
    const once = equal(view, { timing: build.oneShot(7 * HOUR_MS) });
    expect(once.schedule).toMatchObject({ cronAt: null, timing: { kind: 'one_shot' } });
    expect(once.pending).toMatchObject({
      id: view.pending.id,
      scheduledFor: build.now + 7 * HOUR_MS,
      idempotencyKey: 'order',
      revision: 2,
    });
    const again = equal(once, { timing: HOURLY });
    expect(again.schedule.cronAt).toBe(view.schedule.cronAt);
    expect(again.pending).toMatchObject({
      scheduledFor: view.pending.scheduledFor,
      idempotencyKey: view.pending.idempotencyKey,
    });
  });

  test('gives a new payload and key to a delivery without attempts only', () => {
    const changes = { payloadBytes: 9, headerNames: ['X-A'], idempotencyKey: 'other' };
    const view = viewOf();
    const fresh = equal(view, changes, { hasNewPayload: true });
    expect(fresh.schedule).toMatchObject({ payloadVersion: 2, payloadBytes: 9, headerNames: ['X-A'] });
    expect(fresh.pending).toMatchObject({ payloadVersion: 2, payloadBytes: 9, idempotencyKey: 'other' });

    const retried = afterAttempt(view);
    const kept = equal(retried, changes, { hasNewPayload: true });
    expect(kept.schedule.payloadVersion).toBe(2);
    expect(kept.pending).toMatchObject({
      status: 'retry_scheduled',
      payloadVersion: 1,
      payloadBytes: view.pending.payloadBytes,
      idempotencyKey: view.pending.idempotencyKey,
    });
  });

  test('moves between its own URL and a profile, with the delivery that had no attempt', () => {
    const profile = build.profile({ url: 'https://profile.example/', method: 'PUT' });
    const view = viewOf();
    const onProfile = { destination: { kind: 'profile', endpointId: profile.id } } as const;
    const there = equal(view, onProfile, { profile });
    expect(there.pending.target).toEqual({
      url: 'https://profile.example/',
      method: 'PUT',
      endpointId: profile.id,
      endpointVersion: 1,
    });
    const newer = { ...profile, version: 2, url: 'https://newer.example/' };
    // The profile stays, and so does the version that the delivery was made with.
    expect(equal({ ...there, profile: newer }, { ttl: '1h' }, { profile: newer }).pending.target).toEqual(
      there.pending.target,
    );
    expect(
      equal(there, { destination: view.schedule.destination }, { profile: null }).pending.target,
    ).toEqual(view.pending.target);
    const retried = afterAttempt(view);
    expect(equal(retried, onProfile, { profile }).pending.target).toEqual(view.pending.target);
  });

  test('keeps the profile of a delivery that had an attempt, also when it is edited later', () => {
    const profile = build.profile();
    const view = viewOf({ destination: { kind: 'profile', endpointId: profile.id }, profile });
    const { target } = view.pending;
    const inline = { kind: 'inline', url: 'https://b.example/', method: 'PUT' } as const;
    const retried = equal(afterAttempt(view), { destination: inline }, { profile: null });
    expect(retried.pending.target).toEqual(target);
    const changes = { endpoint: 'https://c.example/', method: 'POST' } as const;
    const edited = life.edit(retried, changes, build.now);
    expect(edited.schedule.destination).toEqual({ kind: 'inline', url: changes.endpoint, method: 'POST' });
    expect(edited.pending?.target).toEqual(target);
  });

  test('is refused while the delivery of a one-shot is being sent, or has just ended', () => {
    const view = viewOf();
    const pending = claim(view.pending, 'node-1', build.ids.mint('att', build.now), build.now);
    for (const busy of [{ ...view, pending }, afterAttempt(view, SUCCESS)]) {
      const wanted = wantedOf(view.schedule, { ttl: '5m' });
      expect(equalize(busy, { wanted, profile: null, hasNewPayload: false }, build.now)).toBe('in_progress');
    }
  });

  test('stays paused', () => {
    const view = viewOf({ timing: HOURLY });
    const paused = life.pause(view, build.now);
    if (paused?.pending === null || paused === null) throw new Error('The schedule was paused.');
    const { schedule, pending } = equal(
      { ...view, schedule: paused.schedule, pending: paused.pending },
      { timing: { ...HOURLY, cron: '30 * * * *' } as never },
    );
    expect([schedule.state, pending.status]).toEqual(['paused', 'paused']);
  });
});

describe('a trigger', () => {
  test('adds a delivery of no occurrence that is due now', () => {
    const view = viewOf({ timing: HOURLY, idempotencyKey: 'order', ttl: '1h' });
    const id = build.ids.mint('dlv', build.now);
    expect(life.trigger(view, id, build.now)).toMatchObject({
      id,
      occurrence: null,
      scheduledFor: build.now,
      dueAt: build.now,
      deadline: build.now + HOUR_MS,
      idempotencyKey: `order:${id}`,
      target: view.pending.target,
    });
  });

  test('makes the delivery of a one-shot due, and keeps its key', () => {
    const view = viewOf();
    const { schedule, pending } = life.fireNow(view, view.pending, build.now);
    expect(schedule.timing).toEqual(view.schedule.timing);
    expect(pending).toMatchObject({
      id: view.pending.id,
      occurrence: null,
      dueAt: build.now,
      idempotencyKey: view.pending.idempotencyKey,
    });
  });
});
