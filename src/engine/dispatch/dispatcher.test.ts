/** The dispatcher with the attempts it begins, from a stored schedule to its request. */
import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { BreakerPolicy } from '#src/domain/endpoint-profile.ts';
import { NEW_GATE } from '#src/domain/gate.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import type { Destination } from '#src/domain/schedule.ts';
import { cancel, edit, pause, reschedule, resume } from '#src/domain/schedule-lifecycle.ts';
import { equalize } from '#src/domain/schedule-put.ts';
import { Engine } from '#src/engine/engine.ts';
import { BROKEN, EngineHarness, OK, PARTITION, requireDue } from '#test/engine-harness.ts';
import { HOUR_MS, HOURLY } from '#test/store-contract/builders.ts';
import { ALL_DELIVERIES } from '#test/store-contract/everything.ts';
import { BATCH_SIZE_MIN } from './overdue-batch-size.ts';

async function started(harness: EngineHarness): Promise<Engine> {
  const engine = new Engine(harness, { retentionMs: 0 });
  await engine.start();
  return engine;
}

/** Returns when the requests were sent, in milliseconds after `from`. */
function sentAfter(harness: EngineHarness, from: Instant): readonly number[] {
  return harness.egress.sent.map(({ at }) => at - from);
}

function idsSent(harness: EngineHarness): readonly (string | undefined)[] {
  return harness.egress.header('Sched-Delivery-Id');
}

describe('a delivery', () => {
  test('fires at its instant, to the millisecond, once', async () => {
    await using harness = await EngineHarness.open();
    const { pending, schedule } = await harness.schedule({ inMs: 61_234 });
    await started(harness);
    await harness.time.advance(61_233);
    expect(harness.egress.sent).toEqual([]);
    await harness.time.advance(1);
    expect(sentAfter(harness, pending.scheduledFor)).toEqual([0]);
    await harness.time.advance(120_000);
    expect(harness.egress.sent).toHaveLength(1);
    expect(await harness.delivery(pending.id)).toMatchObject({ status: 'succeeded', attemptCount: 1 });
    expect(await harness.attempts(pending.id)).toMatchObject([
      { outcome: 'success', dueAt: pending.scheduledFor, firedAt: pending.scheduledFor },
    ]);
    expect((await harness.disk.findSchedule(PARTITION, schedule.id))?.schedule.state).toBe('completed');
    expect(harness.metrics.latenesses).toEqual([
      ['claim', 0],
      ['send', 0],
    ]);
  });

  test('has its attempt stored before the request goes out', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule();
    await started(harness);
    harness.egress.respond = () => null;
    await harness.time.advance(5_000);
    expect(harness.egress.sent).toHaveLength(1);
    expect((await harness.delivery(pending.id)).status).toBe('claimed');
    expect(await harness.attempts(pending.id)).toMatchObject([{ outcome: 'retryable', finishedAt: null }]);
  });

  test('that is created at least a second ahead fires in time without a hint', async () => {
    await using harness = await EngineHarness.open();
    await started(harness);
    await harness.time.advance(4_321);
    const { pending } = await harness.schedule({ inMs: 1_000 });
    await harness.time.advance(1_000);
    expect(idsSent(harness)).toEqual([pending.id]);
    expect(sentAfter(harness, pending.scheduledFor)).toEqual([0]);
  });

  test('fires in time after a hint, however near it is, also before one that was known already', async () => {
    await using harness = await EngineHarness.open();
    const engine = await started(harness);
    await harness.time.advance(4_321);
    const later = await harness.schedule({ inMs: 40 });
    engine.due(requireDue(later.pending));
    const earlier = await harness.schedule({ inMs: 20 });
    engine.due(requireDue(earlier.pending));
    await harness.time.advance(40);
    expect(idsSent(harness)).toEqual([earlier.pending.id, later.pending.id]);
    expect(sentAfter(harness, earlier.pending.scheduledFor)).toEqual([0, 20]);
  });

  test('that is due at once, such as a replay, fires at once after a hint, and within a second without one', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule();
    const engine = await started(harness);
    await harness.time.advance(10_000);
    const finished = await harness.delivery(pending.id);
    const replays = [harness.build.replay(finished), harness.build.replay(finished)];
    for (const delivery of replays) await harness.disk.addReplay({ delivery, receipt: null });
    const [first, second] = replays.map(requireDue);
    if (first !== undefined) engine.due(first);
    await harness.time.advance(0);
    expect(idsSent(harness)).toEqual([pending.id, first?.id]);
    await harness.time.advance(1_000);
    expect(idsSent(harness)).toEqual([pending.id, first?.id, second?.id]);
  });

  test('that may have been created during a scan is found by another scan right after it', async () => {
    await using harness = await EngineHarness.open();
    const engine = await started(harness);
    await harness.time.advance(500);
    harness.faults.before('listDue', () => engine.rescan());
    await harness.time.advance(500);
    // Each of the two scans runs once as planned and once for the rescan.
    expect(harness.faults.times('listDue')).toBeGreaterThanOrEqual(4);
  });

  test('that a hint and a scan find at the same time is sent once', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule({ inMs: 1_500 });
    const engine = await started(harness);
    for (let times = 0; times < 5; times++) {
      engine.due(requireDue(pending));
      engine.rescan();
      await harness.time.advance(300);
    }
    await harness.time.advance(5_000);
    expect(harness.egress.sent).toHaveLength(1);
  });

  test.for([
    [
      'canceled',
      (harness: EngineHarness) => (view: Parameters<typeof cancel>[0]) => cancel(view, harness.now),
    ],
    ['paused', (harness: EngineHarness) => (view: Parameters<typeof pause>[0]) => pause(view, harness.now)],
  ] as const)('that is %s a moment before is not sent', async ([status, order]) => {
    await using harness = await EngineHarness.open();
    const { pending, schedule } = await harness.schedule();
    await started(harness);
    await harness.time.advance(4_999);
    await harness.change(schedule.id, order(harness));
    await harness.time.advance(60_000);
    expect(harness.egress.sent).toEqual([]);
    expect((await harness.delivery(pending.id)).status).toBe(status);
    expect(await harness.attempts(pending.id)).toEqual([]);
  });

  test('that is canceled while it is being claimed is sent or canceled, not both', async () => {
    await using harness = await EngineHarness.open();
    const { pending, schedule } = await harness.schedule();
    await started(harness);
    harness.faults.before('claim', () => harness.change(schedule.id, (view) => cancel(view, harness.now)));
    await harness.time.advance(60_000);
    expect(harness.egress.sent).toEqual([]);
    expect(await harness.attempts(pending.id)).toEqual([]);
  });

  test.for([
    ['earlier', 2_000],
    ['later', 20_000],
  ] as const)('that is moved %s fires at its new instant', async ([, inMs]) => {
    await using harness = await EngineHarness.open();
    const { schedule } = await harness.schedule();
    await started(harness);
    await harness.time.advance(1_000);
    const timing = harness.build.oneShot(inMs);
    const movedTo = instant(harness.now + inMs);
    await harness.change(schedule.id, (view) => reschedule(view, timing, harness.now));
    await harness.time.advance(60_000);
    expect(sentAfter(harness, movedTo)).toEqual([0]);
  });

  test('that is edited while it is being claimed goes where the edit says, and only there', async () => {
    await using harness = await EngineHarness.open();
    const { schedule } = await harness.schedule();
    await started(harness);
    const endpoint = 'https://example.org/other';
    harness.faults.before('claim', () =>
      harness.change(schedule.id, (view) => edit(view, { endpoint }, harness.now)),
    );
    await harness.time.advance(10_000);
    expect(harness.egress.sent.map(({ request }) => request.url.href)).toEqual([endpoint]);
  });

  test('of a recurring schedule is followed by the next at its instant, and waits for no retry', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => BROKEN;
    const { pending } = await harness.schedule({
      timing: { kind: 'recurring', cron: '* * * * *', timezone: 'UTC' },
      retryPolicy: { ...DEFAULT_RETRY_POLICY, base: '45s', factor: 1 },
    });
    await started(harness);
    await harness.time.advance(150_000);
    const seconds = sentAfter(harness, pending.scheduledFor).map((ms) => ms / 1_000);
    expect(seconds).toEqual([0, 45, 60, 90]);
    const [first, ...others] = harness.egress.header('Idempotency-Key');
    expect(others.map((key) => key === first)).toEqual([true, false, true]);
  });
});

describe('a retry', () => {
  test('is due at the end of the attempt + min(max, base × factor^n), with the same key', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => BROKEN;
    const retryPolicy = { ...DEFAULT_RETRY_POLICY, maxAttempts: 4, base: '1s', factor: 3, max: '10s' };
    const { pending } = await harness.schedule({ retryPolicy });
    await started(harness);
    await harness.time.advance(120_000);
    expect(sentAfter(harness, pending.scheduledFor)).toEqual([0, 3_000, 12_000, 22_000]);
    expect(harness.egress.header('Sched-Attempt')).toEqual(['1', '2', '3', '4']);
    expect(new Set(harness.egress.header('Idempotency-Key')).size).toBe(1);
    expect(await harness.delivery(pending.id)).toMatchObject({ status: 'dead_letter', lastStatusCode: 503 });
  });

  test.for([
    ['20ms', [0, 40, 120, 280]],
    ['0', [0, 0, 0, 0]],
  ] as const)('is in time however soon it is due: base %s', async ([base, expected]) => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => BROKEN;
    const { pending } = await harness.schedule({
      retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts: 4, base },
    });
    await started(harness);
    await harness.time.advance(10_000);
    expect(sentAfter(harness, pending.scheduledFor)).toEqual(expected);
  });

  test('counts from the end of the attempt: a time-out of 30 s is one', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => null;
    const { pending } = await harness.schedule({ retryPolicy: { ...DEFAULT_RETRY_POLICY, base: '1s' } });
    await started(harness);
    await harness.time.advance(40_000);
    expect(sentAfter(harness, pending.scheduledFor)).toEqual([0, 32_000]);
    expect((await harness.attempts(pending.id))[0]).toMatchObject({ error: 'timeout', egressMs: 30_000 });
  });

  test('is not made past the deadline: the delivery has expired at once', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => BROKEN;
    const { pending } = await harness.schedule({ ttl: '9s' });
    await started(harness);
    await harness.time.advance(5_000);
    expect(await harness.delivery(pending.id)).toMatchObject({ status: 'expired', finalizedAt: harness.now });
    await harness.time.advance(60_000);
    expect(harness.egress.sent).toHaveLength(1);
  });

  test('is not made after a cancel, and waits through a pause', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => BROKEN;
    const [canceled, paused] = [await harness.schedule(), await harness.schedule()];
    await started(harness);
    await harness.time.advance(6_000);
    await harness.change(canceled.schedule.id, (view) => cancel(view, harness.now));
    await harness.change(paused.schedule.id, (view) => pause(view, harness.now));
    await harness.time.advance(60_000);
    expect(harness.egress.sent).toHaveLength(2);
    await harness.change(paused.schedule.id, (view) => resume(view, harness.now));
    await harness.time.advance(1_000);
    expect(idsSent(harness).at(-1)).toBe(paused.pending.id);
    expect(harness.egress.header('Sched-Attempt').at(-1)).toBe('2');
  });
});

describe('after a downtime', () => {
  test('an overdue delivery fires once, an expired one ends without an attempt, and missed occurrences are skipped', async () => {
    await using harness = await EngineHarness.open();
    const late = await harness.schedule();
    const expired = await harness.schedule({ ttl: '1h' });
    const hourly = await harness.schedule({ timing: HOURLY });
    await harness.time.advance(5.5 * HOUR_MS);
    await started(harness);
    await harness.time.advance(1_000);
    expect(harness.egress.sent).toHaveLength(2);
    expect(new Set(idsSent(harness))).toEqual(new Set([late.pending.id, hourly.pending.id]));
    expect(await harness.delivery(expired.pending.id)).toMatchObject({ status: 'expired', attemptCount: 0 });
    expect(await harness.attempts(expired.pending.id)).toEqual([]);
    const rows = await harness.disk.listDeliveries(
      PARTITION,
      { ...ALL_DELIVERIES, scheduleId: hourly.schedule.id },
      { before: null, limit: 100 },
    );
    expect(rows.map(({ scheduledFor }) => scheduledFor - hourly.pending.scheduledFor)).toEqual([
      5 * HOUR_MS,
      0,
    ]);
  });

  test('all overdue deliveries are sent, however many there are', async () => {
    await using harness = await EngineHarness.open();
    for (let each = 0; each < 400; each++) await harness.schedule({ url: `https://example.com/${each % 7}` });
    await harness.time.advance(HOUR_MS);
    await started(harness);
    await harness.time.advance(2_000);
    expect(new Set(idsSent(harness)).size).toBe(400);
    expect(harness.egress.sent).toHaveLength(400);
  });
});

describe('while claims are being written', () => {
  /** Returns how many claims are requested when `due` deliveries are due at once and the store does not answer. */
  async function askedToClaim(due: number, lateMs: number): Promise<number> {
    await using harness = await EngineHarness.open();
    for (let each = 0; each < due; each++) await harness.schedule({ url: `https://${each}.example.com/` });
    await harness.time.advance(5_000 + lateMs);
    let asked = 0;
    const claim = (writes: readonly unknown[]) => {
      asked += writes.length;
      return new Promise<never>(() => {});
    };
    const store = new Proxy(harness.store, {
      get: (target, name) => (name === 'claim' ? claim : Reflect.get(target, name)),
    });
    const { insight, clock, vault, composeNotification, egress, timers, ids, log, metrics, node, cluster } =
      harness;
    const engine = new Engine(
      { store, insight, clock, vault, composeNotification, egress, timers, ids, log, metrics, node, cluster },
      { retentionMs: 0 },
    );
    await engine.start();
    await harness.time.advance(100);
    return asked;
  }

  test('at most four batches of work in time are claimed at a time', async () => {
    const asked = await askedToClaim(400, 0);
    expect(asked).toBeGreaterThan(2 * 64);
    expect(asked).toBeLessThanOrEqual(4 * 64);
  });

  test('at most two batches of overdue work are claimed at a time, and they begin small', async () => {
    expect(await askedToClaim(400, 10_000)).toBe(2 * BATCH_SIZE_MIN);
  });
});

test('the engine is not reported as firing while the scan of overdue work fails', async () => {
  await using harness = await EngineHarness.open();
  const said: boolean[] = [];
  const listDue = (...given: Parameters<typeof harness.store.listDue>) => {
    if (given[1] > harness.now) return harness.store.listDue(...given);
    said.push(engine.isFiring);
    return Promise.reject(new Error('It takes too long.'));
  };
  const store = new Proxy(harness.store, {
    get: (target, name) => (name === 'listDue' ? listDue : Reflect.get(target, name)),
  });
  const { insight, clock, vault, composeNotification, egress, timers, ids, log, metrics, node, cluster } =
    harness;
  const engine: Engine = new Engine(
    { store, insight, clock, vault, composeNotification, egress, timers, ids, log, metrics, node, cluster },
    { retentionMs: 0 },
  );
  await engine.start();
  await harness.time.advance(3_000);
  expect(said.length).toBeGreaterThan(2);
  expect(said.slice(1)).not.toContain(true);
});

describe('overdue work', () => {
  test('has a share of its own at a host that cannot keep up with its work in time', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => null;
    for (let each = 0; each < 850; each++) await harness.schedule({ url: `https://example.com/${each}` });
    await harness.time.advance(5_000);
    await started(harness);
    await harness.time.advance(200);
    harness.faults.set('refuses', 'listDue');
    await harness.schedule({ url: 'https://example.com/late', inMs: 0 });
    await harness.time.advance(2_000);
    harness.faults.clear();
    await harness.time.advance(1_000);
    const isSent = () => harness.egress.sent.some(({ request }) => request.url.pathname === '/late');
    expect([harness.egress.sent.length > 800, isSent()]).toEqual([true, true]);
  });
});

describe('a hanging endpoint', () => {
  test('does not delay another', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = ({ url }) => (url.pathname === '/hangs' ? null : OK);
    for (let each = 0; each < 300; each++) await harness.schedule({ url: 'https://example.com/hangs' });
    const { pending } = await harness.schedule({ url: 'https://example.com/fine', inMs: 6_000 });
    const engine = await started(harness);
    await harness.time.advance(5_500);
    const { inFlight, waiting } = engine.gauges();
    expect(inFlight).toBeGreaterThan(100);
    expect(inFlight + waiting).toBe(300);
    await harness.time.advance(500);
    expect((await harness.delivery(pending.id)).status).toBe('succeeded');
    expect(harness.egress.sent.at(-1)?.at).toBe(pending.scheduledFor);
  });
});

describe('the clock', () => {
  test('that is set back fires nothing early', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule();
    await started(harness);
    await harness.time.advance(4_000);
    harness.time.setClock(-60_000);
    await harness.time.advance(60_999);
    expect(harness.egress.sent).toEqual([]);
    await harness.time.advance(1);
    expect(sentAfter(harness, pending.scheduledFor)).toEqual([0]);
  });

  test('that is set ahead fires what is due then, within a second', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule({ inMs: HOUR_MS });
    await started(harness);
    await harness.time.advance(4_000);
    harness.time.setClock(HOUR_MS);
    await harness.time.advance(1_000);
    expect(idsSent(harness)).toEqual([pending.id]);
  });
});

describe('the breaker', () => {
  const breakerPolicy: BreakerPolicy = { threshold: 1, baseOpen: '10s', maxOpen: '1h', probeTimeout: '5s' };
  const retryPolicy = { ...DEFAULT_RETRY_POLICY, base: '1m' };

  /** Schedules deliveries through one profile. Each character of `answers` is one: success +, failure x, no answer -. */
  async function withBreaker(harness: EngineHarness, seconds: readonly number[], answers: string) {
    const profile = await harness.profile({ breakerPolicy, retryPolicy });
    const views = [];
    for (const second of seconds) views.push(await harness.schedule({ profile, inMs: second * 1_000 }));
    harness.egress.respond = () => {
      const answer = answers[harness.egress.sent.length - 1];
      if (answer === undefined) throw new Error('The test has no answer to that.');
      return answer === '-' ? null : answer === '+' ? OK : BROKEN;
    };
    await started(harness);
    const start = harness.now;
    return { views, seconds: () => sentAfter(harness, start).map((ms) => ms / 1_000) };
  }

  test('defers deliveries to the end of its window while it is open, without an attempt', async () => {
    await using harness = await EngineHarness.open();
    const start = harness.now;
    const { views, seconds } = await withBreaker(harness, [5, 6], 'x+');
    await harness.time.advance(14_999);
    const second = views[1]?.pending as Delivery;
    expect(await harness.delivery(second.id)).toMatchObject({
      status: 'scheduled',
      dueAt: start + 15_000,
      attemptCount: 0,
      reserved: false,
    });
    expect(await harness.attempts(second.id)).toEqual([]);
    expect(harness.metrics.unsents).toEqual(['deferred']);
    await harness.time.advance(1);
    expect(seconds()).toEqual([5, 15]);
    expect((await harness.delivery(second.id)).status).toBe('succeeded');
  });

  test('is not that of the endpoint to which a delivery was edited before it was canceled', async () => {
    await using harness = await EngineHarness.open();
    const [url, endpoint] = ['https://example.com/one', 'https://example.com/two'];
    const failures = 4;
    const other = harness.build.gate(endpoint as EndpointKey);
    const gate = { ...NEW_GATE, breaker: { ...NEW_GATE.breaker, failures } };
    await harness.disk.saveGates([{ ...other, gate }]);
    harness.egress.respond = () => BROKEN;
    await started(harness);
    const { schedule } = await harness.schedule({ url, inMs: 900 });
    harness.faults.before('loadDeliveries', async () => {
      await harness.change(schedule.id, (view) => edit(view, { endpoint }, harness.now));
      await harness.change(schedule.id, (view) => cancel(view, harness.now));
    });
    await harness.time.advance(5_000);
    expect(harness.egress.sent).toEqual([]);
    const { pending } = await harness.schedule({ url });
    await harness.time.advance(5_500);
    expect(await harness.attempts(pending.id)).toHaveLength(1);
    expect(harness.metrics.unsents).toEqual([]);
    await harness.time.advance(11_000);
    expect(await harness.attempts(pending.id)).toHaveLength(2);
    expect(harness.metrics.unsents).toEqual([]);
  });

  test('lets one delivery probe, and releases the others when the probe succeeds', async () => {
    await using harness = await EngineHarness.open();
    const { seconds } = await withBreaker(harness, [5, 6, 7, 8], 'x-++');
    await harness.time.advance(16_000);
    expect(seconds()).toEqual([5, 15]);
    harness.egress.sent[1]?.answer(OK);
    await harness.time.advance(0);
    expect(seconds()).toEqual([5, 15, 16, 16]);
  });

  test('lets the next delivery probe when there is no result within probe_timeout', async () => {
    await using harness = await EngineHarness.open();
    const { seconds } = await withBreaker(harness, [5, 6, 7], 'x--');
    await harness.time.advance(25_000);
    expect(seconds()).toEqual([5, 15, 20]);
  });

  test('lets the next delivery probe when the probe was canceled before it was sent', async () => {
    await using harness = await EngineHarness.open();
    const { views, seconds } = await withBreaker(harness, [5, 6, 16], 'x+');
    await harness.time.advance(14_000);
    const probe = views[1];
    if (probe === undefined) throw new Error('There are three.');
    harness.faults.before('claim', () =>
      harness.change(probe.schedule.id, (view) => cancel(view, harness.now)),
    );
    await harness.time.advance(10_000);
    expect(seconds()).toEqual([5, 16]);
  });

  test('doubles the window at each failed probe', async () => {
    await using harness = await EngineHarness.open();
    const { seconds } = await withBreaker(harness, [5, 6, 7, 8], 'xxxx');
    await harness.time.advance(100_000);
    expect(seconds()).toEqual([5, 15, 35, 75]);
  });

  test('expires a delivery at once whose deadline comes before the end of the window', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ breakerPolicy, retryPolicy });
    await harness.schedule({ profile });
    const { pending } = await harness.schedule({ profile, inMs: 6_000, ttl: '5s' });
    harness.egress.respond = () => BROKEN;
    await started(harness);
    await harness.time.advance(6_000);
    expect(await harness.delivery(pending.id)).toMatchObject({ status: 'expired', attemptCount: 0 });
  });

  test('does not count unresolved names, redirects and requests that were never sent', async () => {
    await using harness = await EngineHarness.open();
    const { views } = await withBreaker(harness, [5, 6, 7], '');
    const results = [
      { kind: 'failed', failure: 'name_not_found' },
      { kind: 'answered', statusCode: 301 },
      { kind: 'failed', failure: 'address_not_allowed' },
    ] as const;
    harness.egress.respond = () => results[harness.egress.sent.length - 1] ?? OK;
    await harness.time.advance(7_000);
    const statuses = await Promise.all(
      views.map(async ({ pending }) => (await harness.delivery(pending.id)).status),
    );
    expect(statuses).toEqual(['retry_scheduled', 'dead_letter', 'dead_letter']);
    expect(harness.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 0 });
  });

  test('that closes does not release a delivery that was rescheduled meanwhile', async () => {
    await using harness = await EngineHarness.open();
    const { views } = await withBreaker(harness, [5, 6, 7], 'x+++');
    await harness.time.advance(8_000);
    const held = views[1];
    if (held === undefined) throw new Error('There are three.');
    const timing = harness.build.oneShot(HOUR_MS);
    const movedTo = instant(harness.now + HOUR_MS);
    await harness.change(held.schedule.id, (view) => reschedule(view, timing, harness.now));
    await harness.time.advance(60_000);
    expect(await harness.delivery(held.pending.id)).toMatchObject({ status: 'scheduled', dueAt: movedTo });
  });

  test('that closes does not release a retry that waits for its backoff', async () => {
    await using harness = await EngineHarness.open();
    const start = harness.now;
    const { views, seconds } = await withBreaker(harness, [5, 6, 20], 'xx+++');
    await harness.time.advance(60_000);
    expect(seconds().slice(0, 3)).toEqual([5, 15, 35]);
    const probe = views[1]?.pending as Delivery;
    expect(await harness.delivery(probe.id)).toMatchObject({
      status: 'retry_scheduled',
      dueAt: start + 15_000 + 120_000,
    });
  });
});

describe('rate limit and retry budget', () => {
  test("a schedule's rate limit spaces its deliveries to the endpoint; a profile's does not", async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ rateLimit: { perSecond: 1 } });
    for (let each = 0; each < 4; each++) await harness.schedule({ rateLimit: { perSecond: 2 } });
    for (let each = 0; each < 4; each++) await harness.schedule({ profile });
    await started(harness);
    const start = harness.now;
    await harness.time.advance(60_000);
    expect(sentAfter(harness, start).toSorted((a, b) => a - b)).toEqual([
      5_000, 5_000, 5_000, 5_000, 5_000, 5_500, 6_000, 6_500,
    ]);
  });

  test('a reserved token survives a restart', async () => {
    await using harness = await EngineHarness.open();
    for (let each = 0; each < 3; each++) await harness.schedule({ rateLimit: { perSecond: 0.1 } });
    const engine = await started(harness);
    const start = harness.now;
    await harness.time.advance(6_000);
    await engine.stop(0);
    await started(harness);
    await harness.time.advance(60_000);
    expect(sentAfter(harness, start)).toEqual([5_000, 15_000, 25_000]);
  });

  test('a retry that can never have a token is dead-lettered without a further attempt', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => BROKEN;
    const profile = await harness.profile({ retryBudget: { rate: 0, burst: 1 } });
    const { pending } = await harness.schedule({ profile });
    await started(harness);
    await harness.time.advance(120_000);
    expect(await harness.delivery(pending.id)).toMatchObject({ status: 'dead_letter', attemptCount: 2 });
    expect(await harness.attempts(pending.id)).toHaveLength(2);
    expect(harness.metrics.unsents).toEqual(['dead_letter']);
  });

  test.for([
    ['its own URL', 'a profile without tokens', 'retry_scheduled'],
    ['a profile with tokens', 'a profile without tokens', 'retry_scheduled'],
    ['a profile without tokens', 'its own URL', 'dead_letter'],
    ['a profile without tokens', 'a profile with tokens', 'dead_letter'],
  ] as const)(
    'a retry to %s keeps to its budget when its schedule has %s',
    async ([before, after, status]) => {
      await using harness = await EngineHarness.open();
      harness.egress.respond = () => BROKEN;
      const profiles = {
        'its own URL': null,
        'a profile with tokens': await harness.profile({ retryBudget: { rate: 1, burst: 1 } }),
        'a profile without tokens': await harness.profile({ retryBudget: { rate: 0, burst: 0 } }),
      };
      const [own, other] = [profiles[before], profiles[after]];
      const { schedule, pending } = await harness.schedule(own === null ? {} : { profile: own });
      await started(harness);
      await harness.time.advance(6_000);
      await harness.change(schedule.id, (view) => {
        const destination: Destination =
          other === null
            ? { kind: 'inline', url: 'https://example.com/other', method: 'POST' }
            : { kind: 'profile', endpointId: other.id };
        const wanted = { ...view.schedule, destination };
        const equal = equalize(view, { wanted, profile: other, hasNewPayload: false }, harness.now);
        return typeof equal === 'string' ? null : equal;
      });
      await harness.time.advance(20_000);
      expect((await harness.delivery(pending.id)).status).toBe(status);
    },
  );

  test('tokens that could not be stored are given back', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule({ rateLimit: { perSecond: 1 } });
    await started(harness);
    harness.faults.set('refuses', 'claim', 'defer', 'saveGates');
    await harness.time.advance(60_000);
    harness.faults.clear();
    await harness.time.advance(5_000);
    expect((await harness.delivery(pending.id)).status).toBe('succeeded');
  });
});

describe('a store that is away', () => {
  test.for([
    ['listDue', 900],
    ['loadDeliveries', 500],
    ['claim', 500],
  ] as const)('for %s: nothing is sent, and all is sent within %i ms when it is back', async ([verb, ms]) => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule();
    await started(harness);
    harness.faults.set('refuses', verb);
    await harness.time.advance(30_000);
    expect(harness.egress.sent).toEqual([]);
    harness.faults.clear();
    await harness.time.advance(ms);
    expect(idsSent(harness)).toEqual([pending.id]);
    expect(await harness.attempts(pending.id)).toHaveLength(1);
  });

  test('is not asked more often than twice a second', async () => {
    await using harness = await EngineHarness.open();
    await harness.schedule();
    await started(harness);
    harness.faults.set('refuses', 'claim');
    await harness.time.advance(65_000);
    expect(harness.faults.times('claim')).toBeLessThanOrEqual(125);
  });

  test('during settling: the outcome and its instant are kept, and the request is sent once', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule();
    await started(harness);
    harness.faults.set('refuses', 'settle');
    await harness.time.advance(60_000);
    harness.faults.clear();
    await harness.time.advance(1_000);
    expect(harness.egress.sent).toHaveLength(1);
    expect(await harness.delivery(pending.id)).toMatchObject({
      status: 'succeeded',
      finalizedAt: pending.scheduledFor,
    });
  });

  test('that lost the answer to a claim: the attempt is closed as interrupted and retried by its policy', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule();
    await started(harness);
    harness.faults.set('loses', 'claim');
    await harness.time.advance(5_000);
    harness.faults.clear();
    await harness.time.advance(30_000);
    expect(harness.egress.header('Sched-Attempt')).toEqual(['2']);
    expect(await harness.attempts(pending.id)).toMatchObject([
      { attemptNo: 1, outcome: 'retryable', error: 'interrupted' },
      { attemptNo: 2, outcome: 'success' },
    ]);
  });

  test('that lost another claim while the first is being closed: both are retried', async () => {
    await using harness = await EngineHarness.open();
    const [first, second] = [
      await harness.schedule({ inMs: 5_000 }),
      await harness.schedule({ inMs: 7_000 }),
    ];
    await started(harness);
    harness.faults.set('loses', 'claim');
    harness.faults.set('refuses', 'settle');
    await harness.time.advance(7_100);
    harness.faults.clear();
    await harness.time.advance(60_000);
    for (const { pending } of [first, second]) {
      expect(await harness.delivery(pending.id)).toMatchObject({ status: 'succeeded', attemptCount: 2 });
    }
  });
});
