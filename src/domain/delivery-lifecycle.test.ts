import { describe, expect, test } from 'vitest';
import { Builders, FAILURE, HOUR_MS, REDIRECT, SUCCESS } from '#test/store-contract/builders.ts';
import {
  attemptInFlight,
  DELIVERY_STATUSES,
  type Delivery,
  type DeliveryStatus,
  type InFlightDelivery,
} from './delivery.ts';
import {
  type AttemptResult,
  applyEdit,
  cancel,
  canStart,
  claim,
  DELIVERY_TRANSITIONS,
  type DeliveryEvent,
  deadlineOf,
  defer,
  endUnsent,
  FIRST_ATTEMPT_GRACE_MS,
  isPending,
  isReplayable,
  isTerminal,
  isWaiting,
  materialize,
  move,
  pause,
  replay,
  resume,
  settle,
  sweep,
  WAITING_STATUSES,
} from './delivery-lifecycle.ts';
import { INTERRUPTED } from './failures.ts';
import { type Instant, instant } from './instant.ts';
import type { Partition } from './project.ts';
import { DEFAULT_RETRY_POLICY } from './retry.ts';
import { SCHEDULE_STATES, type Schedule, type ScheduleState } from './schedule.ts';

const build = new Builders(1 as Partition);
const NODE = 'node-1';

function scheduleIn(
  state: ScheduleState,
  endedAt: Instant | null = null,
): Pick<Schedule, 'state' | 'endedAt'> {
  return { state, endedAt };
}

function deliveryOf(status: DeliveryStatus, changes: Partial<Delivery> = {}): Delivery {
  const { pending } = build.schedule();
  const attemptId = build.ids.mint('att', build.now);
  const claim = { node: NODE, attemptId, dueAt: pending.scheduledFor, firedAt: pending.scheduledFor };
  return { ...pending, status, claim: status === 'claimed' ? claim : null, ...changes };
}

/** Returns a delivery whose attempt `attemptNo` is in flight. */
function inFlight(attemptNo: number, changes: Partial<Delivery> = {}): InFlightDelivery {
  const waiting = deliveryOf('retry_scheduled', { attemptCount: attemptNo - 1, ...changes });
  return claim(waiting, NODE, build.ids.mint('att', build.now), waiting.scheduledFor);
}

/** Settles the first attempt of a delivery, whatever its status is. */
function settleFirst(
  delivery: Delivery,
  result: AttemptResult,
  schedule: Pick<Schedule, 'state' | 'endedAt'>,
  now: Instant,
): Delivery {
  return settle({ ...delivery, claim: inFlight(1).claim, attemptCount: 1 }, result, schedule, now).delivery;
}

/** Makes each event happen. */
const HAPPEN: Readonly<Record<DeliveryEvent, (delivery: Delivery, now: Instant) => Delivery>> = {
  claim: (delivery, now) => claim(delivery, NODE, build.ids.mint('att', now), now),
  succeed: (delivery, now) => settleFirst(delivery, SUCCESS, scheduleIn('active'), now),
  retry: (delivery, now) => settleFirst(delivery, FAILURE, scheduleIn('active'), now),
  abandon: (delivery, now) => settleFirst(delivery, FAILURE, scheduleIn('canceled', now), now),
  park: (delivery, now) => settleFirst(delivery, FAILURE, scheduleIn('paused'), now),
  fail: (delivery, now) => endUnsent(delivery, 'exhausted', now),
  expire: (delivery, now) => endUnsent(delivery, 'expired', now),
  pause,
  resume: (delivery, now) => resume({ ...delivery, attemptCount: 0 }, now),
  resume_retry: (delivery, now) => resume({ ...delivery, attemptCount: 2 }, now),
  cancel,
};
const EVENTS = Object.keys(HAPPEN) as DeliveryEvent[];

/** The complete table. Anything else is not allowed. */
const ALLOWED: readonly (readonly [from: DeliveryStatus, event: DeliveryEvent, to: DeliveryStatus])[] = [
  ['scheduled', 'claim', 'claimed'],
  ['scheduled', 'expire', 'expired'],
  ['scheduled', 'fail', 'dead_letter'],
  ['scheduled', 'pause', 'paused'],
  ['scheduled', 'cancel', 'canceled'],
  ['claimed', 'succeed', 'succeeded'],
  ['claimed', 'retry', 'retry_scheduled'],
  ['claimed', 'fail', 'dead_letter'],
  ['claimed', 'expire', 'expired'],
  ['claimed', 'abandon', 'canceled'],
  ['claimed', 'park', 'paused'],
  ['retry_scheduled', 'claim', 'claimed'],
  ['retry_scheduled', 'expire', 'expired'],
  ['retry_scheduled', 'fail', 'dead_letter'],
  ['retry_scheduled', 'pause', 'paused'],
  ['retry_scheduled', 'cancel', 'canceled'],
  ['paused', 'resume', 'scheduled'],
  ['paused', 'resume_retry', 'retry_scheduled'],
  ['paused', 'expire', 'expired'],
  ['paused', 'cancel', 'canceled'],
];

describe('the lifecycle of a delivery', () => {
  const every = DELIVERY_STATUSES.flatMap((from) => EVENTS.map((event) => [from, event] as const));

  test.for(every)('%s, %s', ([from, event]) => {
    const to = ALLOWED.find(([status, name]) => status === from && name === event)?.[2];
    expect(DELIVERY_TRANSITIONS[from][event]).toBe(to);
    const delivery = deliveryOf(from);
    const happen = () => HAPPEN[event](delivery, build.now);
    if (to === undefined) {
      expect(happen).toThrow(`A ${from} delivery cannot ${event}.`);
      return;
    }
    const after = happen();
    expect(after).toMatchObject({ status: to, id: delivery.id, revision: delivery.revision + 1 });
    expect(after.claim === null).toBe(to !== 'claimed');
    expect(after.finalizedAt).toBe(isTerminal(to) ? build.now : null);
    if (isTerminal(to) || to === 'claimed') expect(after.dueAt).toBeNull();
    else expect(after.dueAt).not.toBeNull();
  });

  test.for([
    ['scheduled', { terminal: false, replayable: false, pending: true, waiting: true }],
    ['claimed', { terminal: false, replayable: false, pending: false, waiting: false }],
    ['retry_scheduled', { terminal: false, replayable: false, pending: true, waiting: true }],
    ['paused', { terminal: false, replayable: false, pending: true, waiting: false }],
    ['succeeded', { terminal: true, replayable: true, pending: false, waiting: false }],
    ['dead_letter', { terminal: true, replayable: true, pending: false, waiting: false }],
    ['expired', { terminal: true, replayable: true, pending: false, waiting: false }],
    ['canceled', { terminal: true, replayable: false, pending: false, waiting: false }],
  ] as const)('%s is %o', ([status, is]) => {
    expect({
      terminal: isTerminal(status),
      replayable: isReplayable(status),
      pending: isPending(status),
      waiting: isWaiting(status),
    }).toEqual(is);
    expect(WAITING_STATUSES.includes(status)).toBe(is.waiting);
  });

  test.for([
    ['pause', ['scheduled', 'retry_scheduled'], 'paused', 'paused'],
    ['resume', ['paused'], 'scheduled', 'retry_scheduled'],
    ['cancel', ['scheduled', 'retry_scheduled', 'paused'], 'canceled', 'canceled'],
  ] as const)('the %s of a schedule sweeps %o', ([action, from, unattemptedTo, attemptedTo]) => {
    const finalizedAt = action === 'cancel' ? build.now : null;
    expect(sweep(action, build.now)).toEqual({
      action,
      requestedAt: build.now,
      from,
      unattemptedTo,
      attemptedTo,
      finalizedAt,
    });
  });
});

describe('a new delivery', () => {
  test('is scheduled and due at its instant, without attempts', () => {
    const { pending } = build.schedule();
    const given = { ...pending, ttl: '90s', scheduledFor: instant(build.now + 5_000) };
    expect(materialize(given)).toMatchObject({
      status: 'scheduled',
      dueAt: given.scheduledFor,
      deadline: given.scheduledFor + 90_000,
      attemptCount: 0,
      lastStatusCode: null,
      error: null,
      replayOf: null,
      claim: null,
      finalizedAt: null,
      revision: 1,
    });
  });

  test.for([
    [null, null],
    ['0', 0],
    ['1h30m', 5_400_000],
    ['-5m', -300_000],
    ['1.5s', 1_500],
  ] as const)('with ttl %s has its deadline %s ms after its instant', ([ttl, afterMs]) => {
    expect(deadlineOf(build.now, ttl)).toBe(afterMs === null ? null : build.now + afterMs);
  });

  test('that is a replay is due now, with the snapshot and key of the original and a new deadline', () => {
    const original = deliveryOf('dead_letter', {
      ttl: '1h',
      attemptCount: 8,
      lastStatusCode: 500,
      error: 'HTTP 500',
      finalizedAt: build.now,
    });
    const now = build.tick(HOUR_MS * 30);
    const id = build.ids.mint('dlv', now);
    const made = replay(original, id, now);
    expect(made).toEqual({
      ...original,
      id,
      replayOf: original.id,
      status: 'scheduled',
      scheduledFor: now,
      dueAt: now,
      deadline: now + HOUR_MS,
      attemptCount: 0,
      lastStatusCode: null,
      error: null,
      claim: null,
      createdAt: now,
      finalizedAt: null,
      revision: 1,
    });
    expect(replay({ ...original, ttl: null }, id, now).deadline).toBeNull();
    expect(replay(made, original.id, now).replayOf).toBe(id);
  });
});

describe('a pending delivery', () => {
  test('that is moved keeps its attempts, and its key once an attempt has carried it', () => {
    const to = {
      occurrence: build.now,
      movedFrom: null,
      scheduledFor: instant(build.now + 1_000),
      idempotencyKey: 'new',
    };
    const first = deliveryOf('scheduled', { ttl: '10s', idempotencyKey: 'old' });
    const shared = { occurrence: to.occurrence, scheduledFor: to.scheduledFor, dueAt: to.scheduledFor };
    const deadline = to.scheduledFor + 10_000;
    expect(move(first, to)).toEqual({
      ...first,
      ...shared,
      deadline,
      idempotencyKey: 'new',
      revision: 2,
    });
    const retried = deliveryOf('retry_scheduled', { ttl: '10s', idempotencyKey: 'old', attemptCount: 3 });
    expect(move(retried, to)).toEqual({ ...retried, ...shared, deadline, revision: 2 });
  });

  test('that is edited takes target, ttl and policy, and gets a new deadline', () => {
    const delivery = deliveryOf('scheduled', { ttl: '10s' });
    const target = { ...delivery.target, url: 'https://example.com/other', method: 'GET' } as const;
    const retryPolicy = { ...DEFAULT_RETRY_POLICY, maxAttempts: 2 };
    expect(applyEdit(delivery, { target, ttl: '1h', retryPolicy, notify: null })).toEqual({
      ...delivery,
      target,
      ttl: '1h',
      deadline: delivery.scheduledFor + HOUR_MS,
      retryPolicy,
      revision: 2,
    });
    expect(applyEdit(delivery, { target, ttl: null, retryPolicy, notify: null }).deadline).toBeNull();
  });

  test('that is sent to another endpoint does not wait for the gate of the old one, nor use its token', () => {
    const until = instant(build.now + 30_000);
    const target = { ...deliveryOf('scheduled').target, url: 'https://example.com/other' };
    const edited = (given: Delivery, to = target) => applyEdit(given, { ...given, target: to });
    const first = defer(deliveryOf('scheduled'), until, true);
    expect(edited(first)).toMatchObject({ reserved: false, dueAt: first.scheduledFor });
    const retried = defer(deliveryOf('retry_scheduled', { attemptCount: 1 }), until, true);
    expect(edited(retried)).toMatchObject({ reserved: false, dueAt: until });
    const sameEndpoint = { ...first.target, url: `${first.target.url}?n=1` };
    expect(edited(first, sameEndpoint)).toMatchObject({ reserved: true, dueAt: until });
  });

  test('that the gate deferred changes only its due instant', () => {
    const delivery = deliveryOf('retry_scheduled', { attemptCount: 1 });
    const until = instant(build.now + 30_000);
    expect(defer(delivery, until, true)).toEqual({ ...delivery, dueAt: until, reserved: true, revision: 2 });
  });

  test('that is paused and resumed is due as before, with or without attempts', () => {
    for (const attemptCount of [0, 1]) {
      const delivery = deliveryOf(attemptCount === 0 ? 'scheduled' : 'retry_scheduled', { attemptCount });
      expect(resume(pause(delivery, build.now), build.now)).toEqual({ ...delivery, revision: 3 });
    }
  });

  test('that is resumed after its deadline expires', () => {
    const delivery = deliveryOf('paused', {
      deadline: instant(build.now - 1),
      scheduledFor: instant(build.now - HOUR_MS),
    });
    expect(resume(delivery, build.now)).toMatchObject({
      status: 'expired',
      finalizedAt: build.now,
      dueAt: null,
    });
  });
});

describe('whether an attempt may start', () => {
  const late = (ms: number) => ms;
  test.for([
    ['no ttl, years late', { ttl: null, lateMs: 1e11, attempts: 0 }, 'yes'],
    ['before the deadline', { ttl: '10s', lateMs: late(9_999), attempts: 0 }, 'yes'],
    ['at the deadline', { ttl: '10s', lateMs: late(10_000), attempts: 0 }, 'yes'],
    ['past the deadline', { ttl: '10s', lateMs: late(10_001), attempts: 0 }, 'expired'],
    ['zero ttl, on time', { ttl: '0', lateMs: late(0), attempts: 0 }, 'yes'],
    ['zero ttl, within 300 ms', { ttl: '0', lateMs: late(300), attempts: 0 }, 'yes'],
    ['zero ttl, after 301 ms', { ttl: '0', lateMs: late(301), attempts: 0 }, 'expired'],
    ['negative ttl, on time', { ttl: '-1h', lateMs: late(0), attempts: 0 }, 'yes'],
    ['negative ttl, within 300 ms', { ttl: '-1h', lateMs: late(300), attempts: 0 }, 'yes'],
    ['negative ttl, after 301 ms', { ttl: '-1h', lateMs: late(301), attempts: 0 }, 'expired'],
    ['200 ms ttl, within 300 ms', { ttl: '200ms', lateMs: late(300), attempts: 0 }, 'yes'],
    ['a retry at the deadline', { ttl: '10s', lateMs: late(10_000), attempts: 3 }, 'yes'],
    ['a retry past the deadline', { ttl: '10s', lateMs: late(10_001), attempts: 3 }, 'expired'],
    ['a retry within 300 ms of a zero ttl', { ttl: '0', lateMs: late(1), attempts: 1 }, 'expired'],
    ['the attempts used up', { ttl: null, lateMs: late(0), attempts: 8 }, 'exhausted'],
    ['the attempts used up and past the deadline', { ttl: '0', lateMs: late(1), attempts: 8 }, 'exhausted'],
    ['more attempts made than a lowered limit', { ttl: null, lateMs: late(0), attempts: 9 }, 'exhausted'],
  ] as const)('%s', ([, { ttl, lateMs, attempts }, expected]) => {
    const scheduledFor = instant(build.now + HOUR_MS);
    const delivery = deliveryOf(attempts === 0 ? 'scheduled' : 'retry_scheduled', {
      scheduledFor,
      deadline: deadlineOf(scheduledFor, ttl),
      attemptCount: attempts,
    });
    expect(canStart(delivery, instant(scheduledFor + lateMs))).toBe(expected);
    expect(FIRST_ATTEMPT_GRACE_MS).toBe(300);
  });
});

describe('a claim', () => {
  test('counts the attempt and keeps its facts', () => {
    const waiting = deliveryOf('retry_scheduled', { attemptCount: 2, dueAt: instant(build.now - 40) });
    const id = build.ids.mint('att', build.now);
    const delivery = claim(waiting, NODE, id, build.now);
    expect(delivery).toEqual({
      ...waiting,
      status: 'claimed',
      claim: { node: NODE, attemptId: id, dueAt: build.now - 40, firedAt: build.now },
      attemptCount: 3,
      dueAt: null,
      revision: 2,
    });
    expect(attemptInFlight(delivery)).toEqual({
      timing: null,
      partition: waiting.partition,
      id,
      deliveryId: waiting.id,
      attemptNo: 3,
      outcome: 'retryable',
      statusCode: null,
      dueAt: build.now - 40,
      firedAt: build.now,
      endpointId: null,
      finishedAt: null,
      egressMs: null,
      error: null,
    });
  });
});

describe('settling', () => {
  const TERMINAL: AttemptResult = REDIRECT;
  const RESULTS = [SUCCESS, FAILURE, TERMINAL, INTERRUPTED];
  /** The deadline, relative to the instant of the retry. */
  const DEADLINES = { none: null, later: 1, exactly: 0, earlier: -1 } as const;
  const REPLAYS = { none: null, 'made before the end': -1, 'made after the end': 1 } as const;

  const combinations = RESULTS.flatMap((result) =>
    [true, false].flatMap((attemptsLeft) =>
      (Object.keys(DEADLINES) as (keyof typeof DEADLINES)[]).flatMap((deadline) =>
        SCHEDULE_STATES.flatMap((state) =>
          (Object.keys(REPLAYS) as (keyof typeof REPLAYS)[]).map((replayed) => ({
            result,
            attemptsLeft,
            deadline,
            state,
            replayed,
          })),
        ),
      ),
    ),
  );

  function expectedStatus({
    result,
    attemptsLeft,
    deadline,
    state,
    replayed,
  }: (typeof combinations)[number]) {
    if (result.outcome === 'success') return 'succeeded';
    if (result.outcome === 'terminal') return 'dead_letter';
    if (!attemptsLeft) return 'dead_letter';
    if (state === 'canceled' && replayed !== 'made after the end') return 'canceled';
    if (deadline === 'earlier') return 'expired';
    return state === 'paused' ? 'paused' : 'retry_scheduled';
  }

  test(`has the right result in each of ${combinations.length} combinations`, () => {
    for (const combination of combinations) {
      const { result, attemptsLeft, deadline, state, replayed } = combination;
      const endedAt = instant(build.now + 500);
      const finishedAt = instant(build.now + HOUR_MS + 1_234);
      // The wait after attempt 2 is 5 s × 2^2.
      const retryAt = instant(finishedAt + 20_000);
      const offset = DEADLINES[deadline];
      const age = REPLAYS[replayed];
      const delivery = inFlight(2, {
        deadline: offset === null ? null : instant(retryAt + offset),
        retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts: attemptsLeft ? 3 : 2 },
        lastStatusCode: 429,
        error: 'HTTP 429',
        ...(age !== null && {
          replayOf: build.ids.mint('dlv', build.now),
          createdAt: instant(endedAt + age),
        }),
      });
      const isEnded = state === 'canceled' || state === 'completed';
      const settled = settle(delivery, result, scheduleIn(state, isEnded ? endedAt : null), finishedAt);

      const status = expectedStatus(combination);
      const error = result.outcome === 'success' ? null : result.error;
      const waits = status === 'retry_scheduled' || status === 'paused';
      expect(settled.delivery, JSON.stringify(combination)).toEqual({
        ...delivery,
        status,
        claim: null,
        dueAt: waits ? retryAt : null,
        finalizedAt: waits ? null : finishedAt,
        lastStatusCode: result.statusCode ?? 429,
        error,
        revision: delivery.revision + 1,
      });
      expect(settled.attempt, JSON.stringify(combination)).toEqual({
        ...attemptInFlight(delivery),
        outcome: result.outcome,
        statusCode: result.statusCode,
        finishedAt,
        egressMs: finishedAt - delivery.claim.firedAt,
        error,
      });
    }
  });

  test('a clock that was set back leads to no negative duration', () => {
    const delivery = inFlight(1);
    const earlier = instant(delivery.claim.firedAt - 5_000);
    expect(settle(delivery, SUCCESS, scheduleIn('active'), earlier).attempt.egressMs).toBe(0);
  });
});
