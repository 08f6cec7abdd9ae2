/** Tests the decisions on schedules, one by one. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  Builders,
  DAY_MS,
  FAILURE,
  HOUR_MS,
  HOURLY,
  MINUTE_MS,
  REDIRECT,
  SUCCESS,
} from '#test/store-contract/builders.ts';
import type { Delivery } from './delivery.ts';
import { defer, settle } from './delivery-lifecycle.ts';
import { INTERRUPTED } from './failures.ts';
import { formatInstant, type Instant, instant, parseInstant } from './instant.ts';
import { labelDigests } from './labels.ts';
import { jitterMs, nextRuns, pendingFireAt } from './occurrence.ts';
import type { Partition } from './project.ts';
import { DEFAULT_RETRY_POLICY } from './retry.ts';
import {
  SCHEDULE_STATES,
  type Schedule,
  type ScheduleState,
  type ScheduleView,
  type Timing,
} from './schedule.ts';
import * as life from './schedule-lifecycle.ts';

/** A Sunday at 08:00:00 UTC. */
const START = at('2026-11-15T08:00:00Z');
const NODE = 'node-1';

function at(text: string): Instant {
  const parsed = parseInstant(text);
  if (parsed === null) throw new Error(`${text} is no instant.`);
  return parsed;
}

/** Returns a time of day on the day of START. */
function today(time: string): Instant {
  return at(`2026-11-15T${time}Z`);
}

function fixture(given: Partial<life.NewSchedule> = {}): { build: Builders; view: View } {
  const build = new Builders(1 as Partition);
  return { build, view: { ...build.schedule(given), profile: given.profile ?? null } };
}

interface View extends ScheduleView {
  readonly pending: Delivery;
}

/** Returns what is stored after a change. */
function stored(view: View, change: life.ScheduleChange | null): View {
  if (change === null) throw new Error('There is a change.');
  return { ...view, schedule: change.schedule, pending: change.pending ?? view.pending };
}

function oneShotAt(fireAt: Instant): Timing {
  return { kind: 'one_shot', fireAt, timezone: null };
}

function claimed(build: Builders, view: View, now: Instant): { claim: life.Claimed; view: View } {
  const ids = { attempt: build.ids.mint('att', now), delivery: build.ids.mint('dlv', now) };
  const claim = life.claim(view.pending, view, NODE, ids, now);
  const { schedule, next } = claim.advanced ?? { schedule: view.schedule, next: claim.delivery };
  return { claim, view: { ...view, schedule: { ...view.schedule, ...schedule }, pending: next } };
}

/** Returns a one-shot whose first attempt failed. It waits for its retry, due at `retryAt`. */
function attempted(given: Partial<life.NewSchedule> = {}): { build: Builders; view: View; retryAt: Instant } {
  const { build, view } = fixture(given);
  const { claim } = claimed(build, view, view.pending.scheduledFor);
  const settled = settle(claim.delivery, FAILURE, view.schedule, view.pending.scheduledFor);
  return {
    build,
    view: { ...view, pending: settled.delivery },
    retryAt: instant(view.pending.scheduledFor + 10_000),
  };
}

describe('the lifecycle of a schedule', () => {
  const ALLOWED: Readonly<Record<ScheduleState, Partial<Record<life.ScheduleEvent, ScheduleState>>>> = {
    active: { pause: 'paused', cancel: 'canceled', complete: 'completed' },
    paused: { resume: 'active', cancel: 'canceled', complete: 'completed' },
    canceled: {},
    completed: {},
  };
  const ORDERS = { pause: life.pause, resume: life.resume, cancel: life.cancel };

  test.for(SCHEDULE_STATES)('%s', (state) => {
    expect(life.SCHEDULE_TRANSITIONS[state]).toEqual(ALLOWED[state]);
    const { view } = fixture({ timing: HOURLY });
    const from = { ...view, schedule: { ...view.schedule, state } };
    for (const [order, act] of Object.entries(ORDERS)) {
      const to = ALLOWED[state][order as life.ScheduleEvent];
      const change = act(from, instant(START + 5));
      if (to === undefined) expect(change, order).toBeNull();
      else {
        expect(change?.schedule).toEqual({
          ...from.schedule,
          state: to,
          updatedAt: START + 5,
          endedAt: to === 'canceled' ? START + 5 : null,
          revision: 2,
        });
      }
    }
  });
});

describe('creating', () => {
  test('materializes the next delivery, frozen to its target and policy', () => {
    const { view } = fixture({ ttl: '2h' });
    expect(view.schedule).toMatchObject({
      state: 'active',
      pendingId: view.pending.id,
      cronAt: null,
      lastOccurrence: null,
      revision: 1,
    });
    expect(view.pending).toMatchObject({
      status: 'scheduled',
      scheduleId: view.schedule.id,
      occurrence: START + HOUR_MS,
      scheduledFor: START + HOUR_MS,
      deadline: START + 3 * HOUR_MS,
      target: { url: 'https://example.com/hook', method: 'POST', endpointId: null, endpointVersion: null },
      retryPolicy: DEFAULT_RETRY_POLICY,
    });
  });

  test("with a profile takes its url, method, version and policy; the schedule's own policy wins", () => {
    const build = new Builders(1 as Partition);
    const profile = build.profile({ version: 7, retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts: 3 } });
    const target = { url: profile.url, method: 'PUT', endpointId: profile.id, endpointVersion: 7 };
    expect(build.scheduleOn(profile).pending).toMatchObject({ target, retryPolicy: profile.retryPolicy });
    const retryPolicy = { ...DEFAULT_RETRY_POLICY, maxAttempts: 5 };
    expect(build.scheduleOn(profile, { retryPolicy }).pending.retryPolicy).toEqual(retryPolicy);
  });

  test('is refused when the recurrence never occurs', () => {
    const build = new Builders(1 as Partition);
    expect(() => build.schedule({ timing: { ...HOURLY, cron: '0 0 30 2 *' } as Timing })).toThrow(
      'never fire',
    );
  });

  test("gives a one-shot the customer's key, or the id of its delivery", () => {
    expect(fixture({ idempotencyKey: 'mine' }).view.pending.idempotencyKey).toBe('mine');
    const { view } = fixture();
    expect(view.pending.idempotencyKey).toBe(view.pending.id);
  });

  test('gives each occurrence of a recurrence its own key', () => {
    expect(fixture({ timing: HOURLY, idempotencyKey: 'mine' }).view.pending.idempotencyKey).toBe(
      'mine:2026-11-15T09:00:00.000Z',
    );
    const { build, view } = fixture({ timing: HOURLY });
    expect(view.pending.idempotencyKey).toBe(`${view.schedule.id}:2026-11-15T09:00:00.000Z`);
    const next = claimed(build, view, today('09:00:00')).view;
    expect(next.pending.idempotencyKey).toBe(`${view.schedule.id}:2026-11-15T10:00:00.000Z`);
  });

  test('uses the nominal instant in keys, not the jittered one', () => {
    const { view } = fixture({ timing: HOURLY, jitter: '20m' });
    expect(view.pending.scheduledFor).not.toBe(view.pending.occurrence);
    expect(view.pending.idempotencyKey).toBe(
      `${view.schedule.id}:${formatInstant(view.pending.occurrence as Instant)}`,
    );
  });

  test('with jitter moves the fire within the window and never into the past; fire_at stays nominal', () => {
    for (const jitter of ['1s', '30m', '3h', '9000h']) {
      for (const timing of [HOURLY, oneShotAt(instant(START + MINUTE_MS))]) {
        const { view } = fixture({ timing, jitter });
        const { scheduledFor } = view.pending;
        const occurrence = view.pending.occurrence as Instant;
        expect(scheduledFor).toBe(
          Math.max(START, occurrence + jitterMs(view.schedule.id, occurrence, jitter)),
        );
        expect(view.schedule.timing).toEqual(timing);
      }
    }
  });
});

describe('editing', () => {
  const CHANGES: life.ScheduleEdit = {
    endpoint: 'https://example.com/new',
    method: 'DELETE',
    ttl: '3h',
    retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts: 2 },
    metadata: [['new', 'label']],
  };
  const REFITTED = {
    target: { url: 'https://example.com/new', method: 'DELETE', endpointId: null, endpointVersion: null },
    ttl: '3h',
    retryPolicy: CHANGES.retryPolicy,
  };

  test('changes the record and the pending delivery', () => {
    const { view } = fixture({ ttl: '1h', metadata: [['old', 'label']] });
    const edited = stored(view, life.edit(view, CHANGES, instant(START + 9)));
    expect(edited.schedule).toEqual({
      ...view.schedule,
      destination: { kind: 'inline', url: 'https://example.com/new', method: 'DELETE' },
      ttl: '3h',
      retryPolicy: CHANGES.retryPolicy,
      metadata: [['new', 'label']],
      labelDigests: labelDigests([['new', 'label']], null),
      updatedAt: START + 9,
      revision: 2,
    });
    expect(edited.pending).toEqual({
      ...view.pending,
      ...REFITTED,
      deadline: view.pending.scheduledFor + 3 * HOUR_MS,
      revision: 2,
    });
  });

  test('keeps the fields that it does not name', () => {
    const { view } = fixture({
      ttl: '1h',
      retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts: 4 },
      metadata: [['a', 'b']],
    });
    const edited = stored(view, life.edit(view, {}, instant(START + 9)));
    expect(edited.schedule).toEqual({ ...view.schedule, updatedAt: START + 9, revision: 2 });
    expect(edited.pending).toEqual({ ...view.pending, revision: 2 });
  });

  test('clears ttl and policy with null', () => {
    const { view } = fixture({ ttl: '1h', retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts: 4 } });
    const edited = stored(view, life.edit(view, { ttl: null, retryPolicy: null }, START));
    expect(edited.schedule).toMatchObject({ ttl: null, retryPolicy: null });
    expect(edited.pending).toMatchObject({ ttl: null, deadline: null, retryPolicy: DEFAULT_RETRY_POLICY });
  });

  test('reaches a pending delivery that is paused or waits for a retry', () => {
    const { view } = attempted();
    expect(stored(view, life.edit(view, CHANGES, START)).pending).toMatchObject({
      status: 'retry_scheduled',
      ...REFITTED,
    });
    const paused = stored(view, life.pause(view, START));
    expect(stored(paused, life.edit(paused, CHANGES, START)).pending).toMatchObject({
      status: 'paused',
      ...REFITTED,
    });
  });

  test('leaves a delivery that is being sent as it is', () => {
    const { build, view } = fixture();
    const sending = claimed(build, view, view.pending.scheduledFor).view;
    const change = life.edit(sending, CHANGES, START);
    expect(change).toMatchObject({ pending: null, schedule: { ttl: '3h' } });
  });

  test('of an ended schedule changes only the record', () => {
    const { view } = fixture();
    const canceled = stored(view, life.cancel(view, START));
    expect(life.edit(canceled, CHANGES, START)).toMatchObject({
      pending: null,
      schedule: { state: 'canceled', ttl: '3h' },
    });
  });

  test('of a schedule with a profile keeps the destination', () => {
    const build = new Builders(1 as Partition);
    const profile = build.profile();
    const view = { ...build.scheduleOn(profile), profile };
    const edited = stored(
      view,
      life.edit(view, { ttl: '1h', endpoint: 'https://example.com/no', method: 'GET' }, START),
    );
    expect(edited.schedule.destination).toEqual({ kind: 'profile', endpointId: profile.id });
    expect(edited.pending).toMatchObject({ target: view.pending.target, ttl: '1h' });
  });

  test('never moves the instant', () => {
    const { view } = fixture({ timing: HOURLY, jitter: '10m' });
    const edited = stored(view, life.edit(view, CHANGES, START));
    expect(edited.schedule.timing).toEqual(HOURLY);
    expect(edited.pending).toMatchObject({
      scheduledFor: view.pending.scheduledFor,
      dueAt: view.pending.dueAt,
    });
  });
});

describe('pausing', () => {
  test('pauses the pending delivery, before its first attempt or before a retry', () => {
    for (const { view } of [fixture(), attempted()]) {
      const paused = stored(view, life.pause(view, instant(START + 1)));
      expect(paused.pending).toEqual({
        ...view.pending,
        status: 'paused',
        revision: view.pending.revision + 1,
      });
      expect([pendingFireAt(paused), nextRuns(paused)]).toEqual([null, []]);
    }
  });

  test('lets a delivery that is being sent finish, and pauses it when it fails', () => {
    const { build, view } = fixture();
    const { claim } = claimed(build, view, view.pending.scheduledFor);
    const change = life.pause({ ...view, pending: claim.delivery }, START);
    expect(change?.pending).toBeNull();
    const settled = settle(claim.delivery, FAILURE, change?.schedule ?? view.schedule, START);
    expect(settled.delivery.status).toBe('paused');
  });

  test('comes with a sweep of the other deliveries', () => {
    expect(life.pause(fixture().view, START)?.sweep).toMatchObject({
      unattemptedTo: 'paused',
      attemptedTo: 'paused',
    });
    const paused = stored(fixture().view, life.pause(fixture().view, START));
    expect(life.resume(paused, START)?.sweep).toMatchObject({
      unattemptedTo: 'scheduled',
      attemptedTo: 'retry_scheduled',
    });
    expect(life.cancel(paused, START)?.sweep).toMatchObject({
      unattemptedTo: 'canceled',
      finalizedAt: START,
    });
  });
});

describe('resuming', () => {
  function resumedAt(view: View, now: Instant): View {
    const paused = stored(view, life.pause(view, instant(START + 1)));
    return stored(paused, life.resume(paused, now));
  }

  test('a one-shot before its instant is due as before', () => {
    const { view } = fixture();
    expect(resumedAt(view, instant(START + 5)).pending).toEqual({ ...view.pending, revision: 3 });
  });

  test('a one-shot whose instant passed is due at once', () => {
    const { view } = fixture({ ttl: '3h' });
    const resumed = resumedAt(view, instant(START + 2 * HOUR_MS));
    expect(resumed.schedule.state).toBe('active');
    expect(resumed.pending).toEqual({ ...view.pending, revision: 3 });
    expect(resumed.pending.dueAt).toBeLessThan(START + 2 * HOUR_MS);
  });

  test('a one-shot whose deadline passed expires, and its schedule is completed', () => {
    const { view } = fixture({ ttl: '30m' });
    const now = instant(START + 2 * HOUR_MS);
    const resumed = resumedAt(view, now);
    expect(resumed.pending).toMatchObject({ status: 'expired', finalizedAt: now, dueAt: null });
    expect(resumed.schedule).toMatchObject({ state: 'completed', endedAt: now, updatedAt: now, revision: 3 });
  });

  test('a one-shot with attempts waits for its retry again', () => {
    const { view, retryAt } = attempted();
    const resumed = resumedAt(view, instant(retryAt + DAY_MS));
    expect(resumed.pending).toMatchObject({ status: 'retry_scheduled', dueAt: retryAt, attemptCount: 1 });
  });

  test('a one-shot whose delivery ended in the meantime has nothing to resume', () => {
    const { build, view } = fixture();
    const sending = claimed(build, view, view.pending.scheduledFor).view;
    const paused = stored(sending, life.pause(sending, START));
    expect(life.resume(paused, START)).toMatchObject({ pending: null, schedule: { state: 'active' } });
  });

  test('a recurrence keeps an instant that is still ahead', () => {
    const { view } = fixture({ timing: HOURLY });
    expect(resumedAt(view, today('08:59:59')).pending).toEqual({ ...view.pending, revision: 3 });
  });

  test('a recurrence whose delivery was deferred past its deadline continues; the deadline is checked when it is due', () => {
    const { view } = fixture({ timing: HOURLY, ttl: '1s' });
    const lateMs = 30 * MINUTE_MS;
    const until = instant(view.pending.scheduledFor + 2 * lateMs);
    const held = { ...view, pending: defer(view.pending, until, true) };
    const now = instant(view.pending.scheduledFor + lateMs);
    const paused = stored(held, life.pause(held, now));
    const resumed = stored(paused, life.resume(paused, now));
    expect(resumed.schedule.state).toBe('active');
    expect(resumed.pending).toMatchObject({ status: 'scheduled', dueAt: until });
  });

  test('a recurrence skips missed occurrences and takes the next one after now', () => {
    const { view } = fixture({ timing: HOURLY, ttl: '5m' });
    const resumed = resumedAt(view, today('12:30:00'));
    expect(resumed.schedule).toMatchObject({ state: 'active', cronAt: today('13:00:00') });
    expect(resumed.pending).toEqual({
      ...view.pending,
      occurrence: today('13:00:00'),
      scheduledFor: today('13:00:00'),
      dueAt: today('13:00:00'),
      deadline: today('13:05:00'),
      idempotencyKey: `${view.schedule.id}:2026-11-15T13:00:00.000Z`,
      revision: 3,
    });
  });

  test('a recurrence exactly at an occurrence takes the one after it', () => {
    const { view } = fixture({ timing: HOURLY });
    expect(resumedAt(view, today('09:00:00')).pending.occurrence).toBe(today('10:00:00'));
  });

  test('a recurrence with jitter keeps an occurrence whose jittered instant is ahead, and skips the others', () => {
    const { view } = fixture({ timing: HOURLY, jitter: '10m' });
    const { scheduledFor } = view.pending;
    expect(resumedAt(view, instant(scheduledFor - 1)).pending.scheduledFor).toBe(scheduledFor);
    const skipped = resumedAt(view, scheduledFor).pending;
    expect(skipped.occurrence).toBe(today('10:00:00'));
    expect(skipped.scheduledFor).toBe(
      today('10:00:00') + jitterMs(view.schedule.id, today('10:00:00'), '10m'),
    );
  });

  test('a moved occurrence that is still ahead stays moved; a missed one is replaced by the next of the cron', () => {
    const { view } = fixture({ timing: HOURLY });
    const moved = stored(view, life.reschedule(view, oneShotAt(today('12:30:00')), START));
    const kept = resumedAt(moved, today('12:00:00'));
    expect(kept.schedule.cronAt).toBe(today('09:00:00'));
    expect(kept.pending).toMatchObject({ occurrence: today('12:30:00'), scheduledFor: today('12:30:00') });
    expect(resumedAt(moved, today('12:31:00')).pending.occurrence).toBe(today('13:00:00'));
  });

  test('an active recurrence always has a waiting delivery, even if an attempt of it failed before', () => {
    // A one-shot failed once and was then made recurring. Its delivery, with its attempts, is the pending one.
    const { view } = attempted({ ttl: '1m' });
    const recurring = stored(view, life.reschedule(view, HOURLY, today('09:00:20')));
    expect(recurring.pending).toMatchObject({ status: 'retry_scheduled', scheduledFor: today('10:00:00') });
    const resumed = resumedAt(recurring, today('12:30:00'));
    expect(resumed.schedule.state).toBe('active');
    expect(['scheduled', 'retry_scheduled']).toContain(resumed.pending.status);
    expect(pendingFireAt(resumed)).not.toBeNull();
  });
});

describe('canceling', () => {
  test('ends the pending delivery, whether it waits, waits for a retry or is paused', () => {
    const { view } = fixture();
    for (const from of [view, attempted().view, stored(view, life.pause(view, START))]) {
      const canceled = stored(from, life.cancel(from, instant(START + 3)));
      expect(canceled.pending).toMatchObject({ status: 'canceled', finalizedAt: START + 3, dueAt: null });
      expect(canceled.schedule).toMatchObject({ state: 'canceled', endedAt: START + 3 });
      expect([pendingFireAt(canceled), nextRuns(canceled)]).toEqual([null, []]);
    }
  });

  test('lets a delivery that is being sent finish, and then cancels it instead of a retry', () => {
    const { build, view } = fixture();
    const { claim } = claimed(build, view, view.pending.scheduledFor);
    const change = life.cancel({ ...view, pending: claim.delivery }, START);
    expect(change?.pending).toBeNull();
    const schedule = change?.schedule ?? view.schedule;
    expect(settle(claim.delivery, FAILURE, schedule, START).delivery.status).toBe('canceled');
    const success = settle(claim.delivery, SUCCESS, schedule, START);
    expect(success.delivery.status).toBe('succeeded');
    expect(life.completedBy(schedule, success.delivery, START)).toBeNull();
  });
});

describe('rescheduling', () => {
  test('a one-shot moves its delivery, earlier or later, and gives it a new deadline', () => {
    const { view } = fixture({ ttl: '10m' });
    for (const fireAt of [instant(START + 2_000), instant(START + DAY_MS)]) {
      const moved = stored(view, life.reschedule(view, { kind: 'one_shot', fireAt, timezone: 'UTC' }, START));
      expect(moved.schedule.timing).toEqual({ kind: 'one_shot', fireAt, timezone: 'UTC' });
      expect(moved.pending).toEqual({
        ...view.pending,
        occurrence: fireAt,
        scheduledFor: fireAt,
        dueAt: fireAt,
        deadline: fireAt + 10 * MINUTE_MS,
        revision: 2,
      });
    }
  });

  test('a delivery that waits for a retry is moved too; it keeps its attempts and key, and gets a new deadline', () => {
    const { view } = attempted({ ttl: '10m', idempotencyKey: 'mine' });
    const fireAt = today('20:00:00');
    expect(stored(view, life.reschedule(view, oneShotAt(fireAt), START)).pending).toMatchObject({
      status: 'retry_scheduled',
      attemptCount: 1,
      dueAt: fireAt,
      deadline: fireAt + 10 * MINUTE_MS,
      idempotencyKey: 'mine',
    });
  });

  test('changes nothing while the delivery is being sent or after the end', () => {
    const { build, view } = fixture();
    const sending = claimed(build, view, view.pending.scheduledFor).view;
    expect(life.reschedule(sending, HOURLY, START)).toBeNull();
    const canceled = stored(view, life.cancel(view, START));
    expect(life.reschedule(canceled, HOURLY, START)).toBeNull();
    expect(life.reschedule({ ...view, pending: null }, HOURLY, START)).toBeNull();
  });

  test('a paused schedule stays paused, and fires at its new instant once resumed', () => {
    const { view } = fixture();
    const paused = stored(view, life.pause(view, START));
    const moved = stored(paused, life.reschedule(paused, oneShotAt(today('20:00:00')), START));
    expect([moved.schedule.state, moved.pending.status, pendingFireAt(moved)]).toEqual([
      'paused',
      'paused',
      null,
    ]);
    expect(pendingFireAt(stored(moved, life.resume(moved, START)))).toBe(today('20:00:00'));
  });

  test('a one-shot with a cron makes it recurring', () => {
    const { build, view } = fixture({ timing: oneShotAt(today('18:00:00')) });
    const recurring = stored(view, life.reschedule(view, HOURLY, START));
    expect(recurring.schedule.timing).toEqual(HOURLY);
    expect(recurring.pending).toMatchObject({
      occurrence: today('09:00:00'),
      dueAt: today('09:00:00'),
      idempotencyKey: `${view.schedule.id}:2026-11-15T09:00:00.000Z`,
    });
    expect(claimed(build, recurring, today('09:00:00')).view.pending.occurrence).toBe(today('10:00:00'));
  });

  test.for([
    ['earlier', '08:20:00', '10:00:00'],
    ['later, before the one after it', '09:30:00', '10:00:00'],
    ['later, past others', '12:30:00', '13:00:00'],
    ['onto another', '11:00:00', '12:00:00'],
  ])('a recurrence with an instant moves only the next occurrence: %s', ([, to = '', next = '']) => {
    const { build, view } = fixture({ timing: HOURLY });
    const moved = stored(view, life.reschedule(view, oneShotAt(today(to)), START));
    expect(moved.schedule).toMatchObject({ timing: HOURLY, cronAt: today('09:00:00') });
    expect(moved.pending).toMatchObject({
      occurrence: today(to),
      scheduledFor: today(to),
      dueAt: today(to),
      idempotencyKey: `${view.schedule.id}:${formatInstant(today(to))}`,
    });
    expect(nextRuns(moved).slice(0, 2)).toEqual([today(to), today(next)]);
    expect(claimed(build, moved, today(to)).view.pending).toMatchObject({
      occurrence: today(next),
      scheduledFor: today(next),
    });
  });

  test('a moved occurrence that is moved again still stands for its original instant', () => {
    const { build, view } = fixture({ timing: HOURLY });
    let moved = view;
    for (const to of ['15:00:00', '08:10:00']) {
      moved = stored(moved, life.reschedule(moved, oneShotAt(today(to)), START));
    }
    expect([moved.schedule.cronAt, moved.pending.dueAt]).toEqual([today('09:00:00'), today('08:10:00')]);
    expect(claimed(build, moved, today('08:10:00')).view.pending.occurrence).toBe(today('10:00:00'));
  });

  test('with jitter, the new instant is jittered as well', () => {
    const { view } = fixture({ jitter: '10m' });
    const fireAt = today('20:00:00');
    const moved = stored(view, life.reschedule(view, oneShotAt(fireAt), START));
    expect(moved.pending.scheduledFor).toBe(fireAt + jitterMs(view.schedule.id, fireAt, '10m'));
  });

  test('a recurrence with another cron replaces its own', () => {
    const { view } = fixture({ timing: HOURLY });
    const daily: Timing = { kind: 'recurring', cron: '30 6 * * *', timezone: 'Europe/Berlin' };
    const replaced = stored(view, life.reschedule(view, daily, START));
    expect(replaced.schedule.timing).toEqual(daily);
    expect(replaced.pending).toMatchObject({
      occurrence: at('2026-11-16T05:30:00Z'),
      dueAt: at('2026-11-16T05:30:00Z'),
      idempotencyKey: `${view.schedule.id}:2026-11-16T05:30:00.000Z`,
    });
  });

  test('never repeats a claimed occurrence, even if it fired before its nominal instant', () => {
    const build = new Builders(1 as Partition);
    const candidates = Array.from({ length: 20 }, () => build.schedule({ timing: HOURLY, jitter: '10m' }));
    const early = candidates.find(({ pending }) => pending.scheduledFor < (pending.occurrence ?? START));
    if (early === undefined) throw new Error('Of many, one fires early.');
    const view: View = { ...early, profile: null };
    const fired = claimed(build, view, view.pending.scheduledFor).view;
    const now = instant(view.pending.scheduledFor + 1);
    expect(now).toBeLessThanOrEqual(Number(view.pending.occurrence));
    const replaced = stored(fired, life.reschedule(fired, HOURLY, now));
    expect(replaced.pending.occurrence).toBe(today('10:00:00'));
  });
});

describe('claiming', () => {
  test('a one-shot advances nothing', () => {
    const { build, view } = fixture();
    expect(claimed(build, view, view.pending.scheduledFor).claim.advanced).toBeNull();
  });

  test('the pending delivery of a recurrence materializes the next one, from the current profile', () => {
    const build = new Builders(1 as Partition);
    const profile = build.profile();
    const view: View = { ...build.scheduleOn(profile, { timing: HOURLY }), profile };
    const edited = { ...profile, version: 2, url: 'https://example.com/v2' };
    const { claim } = claimed(build, { ...view, profile: edited }, today('09:00:01'));
    expect(claim.delivery.target.endpointVersion).toBe(1);
    expect(claim.advanced?.schedule).toEqual({
      ...view.schedule,
      pendingId: claim.advanced?.next.id,
      cronAt: today('10:00:00'),
      lastOccurrence: today('09:00:00'),
      revision: 2,
    });
    expect(claim.advanced?.next).toMatchObject({
      status: 'scheduled',
      occurrence: today('10:00:00'),
      createdAt: today('09:00:01'),
      target: { url: 'https://example.com/v2', endpointVersion: 2 },
    });
  });

  test('late, after a downtime, fires once and skips what else was missed', () => {
    const { build, view } = fixture({ timing: HOURLY });
    expect(claimed(build, view, today('13:30:00')).view.pending.occurrence).toBe(today('14:00:00'));
  });

  test('a retry or a replay advances nothing', () => {
    const { build, view } = fixture({ timing: HOURLY });
    const { claim, view: advanced } = claimed(build, view, today('09:00:00'));
    const failed = settle(claim.delivery, FAILURE, advanced.schedule, today('09:00:01')).delivery;
    const ids = { attempt: build.ids.mint('att', START), delivery: build.ids.mint('dlv', START) };
    expect(life.claim(failed, advanced, NODE, ids, today('09:00:11')).advanced).toBeNull();
    expect(life.claim(build.replay(claim.delivery), advanced, NODE, ids, START).advanced).toBeNull();
  });

  test('in an ended schedule materializes nothing', () => {
    const { build, view } = fixture({ timing: HOURLY });
    const canceled: Schedule = { ...view.schedule, state: 'canceled' };
    expect(life.advance(canceled, null, view.pending, build.ids.mint('dlv', START), START)).toBeNull();
  });
});

describe('completing', () => {
  test.for([
    ['succeeded', SUCCESS, 'completed'],
    ['dead-lettered', REDIRECT, 'completed'],
    ['failed and will be retried', FAILURE, null],
    ['interrupted', INTERRUPTED, null],
  ] as const)('a one-shot whose delivery %s', ([, result, state]) => {
    for (const from of ['active', 'paused'] as const) {
      const { build, view } = fixture();
      const schedule = { ...view.schedule, state: from };
      const { claim } = claimed(build, view, view.pending.scheduledFor);
      const { delivery } = settle(claim.delivery, result, schedule, START);
      const completed = life.completedBy(schedule, delivery, instant(START + 7));
      expect(completed?.state ?? null).toBe(state);
      if (completed !== null) {
        expect(completed).toEqual({
          ...schedule,
          state: 'completed',
          endedAt: START + 7,
          updatedAt: START + 7,
          revision: 2,
        });
      }
    }
  });

  test('a recurrence never completes by itself, and a replay completes nothing', () => {
    const { view } = fixture({ timing: HOURLY });
    expect(life.completedBy(view.schedule, { ...view.pending, status: 'succeeded' }, START)).toBeNull();
    const { build, view: once } = fixture();
    const replayed = { ...build.replay(once.pending), status: 'succeeded' } as const;
    expect(life.completedBy(once.schedule, replayed, START)).toBeNull();
  });

  test('a canceled delivery completes nothing', () => {
    const { view } = fixture();
    expect(life.completedBy(view.schedule, { ...view.pending, status: 'canceled' }, START)).toBeNull();
  });
});

describe('with any sequence of operations on a schedule', () => {
  type Deed = (view: View, build: Builders) => life.ScheduleChange | View | null;
  const DEEDS: Readonly<Record<string, Deed>> = {
    'an attempt that fails': (view, build) => {
      const due = pendingFireAt(view);
      if (due === null) return null;
      build.tick(Math.max(due - build.now, 0));
      const { claim, view: after } = claimed(build, view, build.now);
      if (claim.advanced !== null) return after;
      return {
        ...after,
        pending: settle(claim.delivery, FAILURE, view.schedule, build.now).delivery,
      };
    },
    'a move to an instant': (view, build) => life.reschedule(view, build.oneShot(45 * MINUTE_MS), build.now),
    'a move to soon': (view, build) => life.reschedule(view, build.oneShot(1_000), build.now),
    'a recurrence by the hour': (view, build) => life.reschedule(view, HOURLY, build.now),
    'a recurrence by the minute': (view, build) =>
      life.reschedule(view, { kind: 'recurring', cron: '* * * * *', timezone: 'UTC' }, build.now),
    'a pause': (view, build) => life.pause(view, build.now),
    'a resume': (view, build) => life.resume(view, build.now),
    'a while': (_, build) => {
      build.tick(20 * MINUTE_MS);
      return null;
    },
  };

  test('each occurrence is after the last and has its own key, and an active recurrence continues', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...Object.keys(DEEDS)), { maxLength: 40, size: 'max' }),
        fc.option(fc.constantFrom('1s', '10m', '3h')),
        fc.option(fc.constantFrom('1m', '0')),
        (deeds, jitter, ttl) => {
          const retryPolicy = { ...DEFAULT_RETRY_POLICY, maxAttempts: 50 };
          const build = new Builders(1 as Partition);
          let view: View = { ...build.schedule({ jitter, ttl, retryPolicy }), profile: null };
          const occurrences = [view.pending.occurrence];
          const keys = new Map([[view.pending.id, view.pending.idempotencyKey]]);
          for (const name of deeds) {
            const { id } = view.pending;
            const done = DEEDS[name]?.(view, build) ?? null;
            if (done !== null) view = 'profile' in done ? done : stored(view, done);
            if (view.pending.id !== id) occurrences.push(view.pending.occurrence);
            else occurrences.splice(-1, 1, view.pending.occurrence);
            keys.set(view.pending.id, view.pending.idempotencyKey);
            const { state, timing } = view.schedule;
            if (state === 'active' && timing.kind === 'recurring')
              expect(pendingFireAt(view), name).not.toBeNull();
          }
          expect(occurrences.toSorted((a, b) => Number(a) - Number(b))).toEqual(occurrences);
          expect(new Set(occurrences).size).toBe(occurrences.length);
          expect(new Set(keys.values()).size).toBe(keys.size);
        },
      ),
      { numRuns: 1_500, seed: 1 },
    );
  });
});
