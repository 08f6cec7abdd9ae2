/** The dispatcher with the attempts it begins, as the engine puts them together: from a stored schedule to its request. */
import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { BreakerPolicy } from '#src/domain/profile.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import { cancel, edit, pause, reschedule, resume } from '#src/domain/schedule-life.ts';
import { HOUR_MS, HOURLY } from '#src/store/contract/builders.ts';
import { ALL_DELIVERIES } from '#src/store/contract/everything.ts';
import { BROKEN, EngineTestWorld, OK, PARTITION, requireDue } from '#test/engine-world.ts';
import { Engine } from './engine.ts';
import { STRIDE_MIN } from './stride.ts';

async function started(world: EngineTestWorld): Promise<Engine> {
  const engine = new Engine(world, { retentionMs: 0 });
  await engine.start();
  return engine;
}

/** When the requests went out, in ms after `from`. */
function sentAfter(world: EngineTestWorld, from: Instant): readonly number[] {
  return world.egress.sent.map(({ at }) => at - from);
}

function idsSent(world: EngineTestWorld): readonly (string | undefined)[] {
  return world.egress.header('Sched-Delivery-Id');
}

describe('a delivery', () => {
  test('fires at its instant, to the millisecond, once', async () => {
    await using world = await EngineTestWorld.open();
    const { pending, schedule } = await world.schedule({ inMs: 61_234 });
    await started(world);
    await world.time.advance(61_233);
    expect(world.egress.sent).toEqual([]);
    await world.time.advance(1);
    expect(sentAfter(world, pending.scheduledFor)).toEqual([0]);
    await world.time.advance(120_000);
    expect(world.egress.sent).toHaveLength(1);
    expect(await world.delivery(pending.id)).toMatchObject({ status: 'succeeded', attemptCount: 1 });
    expect(await world.attempts(pending.id)).toMatchObject([
      { outcome: 'success', dueAt: pending.scheduledFor, firedAt: pending.scheduledFor },
    ]);
    expect((await world.disk.findSchedule(PARTITION, schedule.id))?.schedule.state).toBe('completed');
    expect(world.metrics.latenesses).toEqual([
      ['claim', 0],
      ['send', 0],
    ]);
  });

  test('has its attempt stored before the request goes out', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule();
    await started(world);
    world.egress.respond = () => null;
    await world.time.advance(5_000);
    expect(world.egress.sent).toHaveLength(1);
    expect((await world.delivery(pending.id)).status).toBe('claimed');
    expect(await world.attempts(pending.id)).toMatchObject([{ outcome: 'retryable', finishedAt: null }]);
  });

  test('that is made while the engine runs, at least a second ahead, fires in time without a hint', async () => {
    await using world = await EngineTestWorld.open();
    await started(world);
    await world.time.advance(4_321);
    const { pending } = await world.schedule({ inMs: 1_000 });
    await world.time.advance(1_000);
    expect(idsSent(world)).toEqual([pending.id]);
    expect(sentAfter(world, pending.scheduledFor)).toEqual([0]);
  });

  test('that is hinted at fires in time however near it is, also before one that was known already', async () => {
    await using world = await EngineTestWorld.open();
    const engine = await started(world);
    await world.time.advance(4_321);
    const later = await world.schedule({ inMs: 40 });
    engine.due(requireDue(later.pending));
    const earlier = await world.schedule({ inMs: 20 });
    engine.due(requireDue(earlier.pending));
    await world.time.advance(40);
    expect(idsSent(world)).toEqual([earlier.pending.id, later.pending.id]);
    expect(sentAfter(world, earlier.pending.scheduledFor)).toEqual([0, 20]);
  });

  test('that is due at once, a replay, fires at once when it is hinted at and within a second when not', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule();
    const engine = await started(world);
    await world.time.advance(10_000);
    const finished = await world.delivery(pending.id);
    const replays = [world.build.replay(finished), world.build.replay(finished)];
    for (const delivery of replays) await world.disk.addReplay({ delivery, receipt: null });
    const [first, second] = replays.map(requireDue);
    if (first !== undefined) engine.due(first);
    await world.time.advance(0);
    expect(idsSent(world)).toEqual([pending.id, first?.id]);
    await world.time.advance(1_000);
    expect(idsSent(world)).toEqual([pending.id, first?.id, second?.id]);
  });

  test('that may have come while a look was under way is looked for right after it', async () => {
    await using world = await EngineTestWorld.open();
    const engine = await started(world);
    await world.time.advance(500);
    world.faults.before('listDue', () => engine.lookAgain());
    await world.time.advance(500);
    // One look in each direction, and the one that was asked for while it was under way.
    expect(world.faults.times('listDue')).toBeGreaterThanOrEqual(4);
  });

  test('hinted at and found at the same time is sent once', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule({ inMs: 1_500 });
    const engine = await started(world);
    for (let times = 0; times < 5; times++) {
      engine.due(requireDue(pending));
      engine.lookAgain();
      await world.time.advance(300);
    }
    await world.time.advance(5_000);
    expect(world.egress.sent).toHaveLength(1);
  });

  test.for([
    ['canceled', (world: EngineTestWorld) => (view: Parameters<typeof cancel>[0]) => cancel(view, world.now)],
    ['paused', (world: EngineTestWorld) => (view: Parameters<typeof pause>[0]) => pause(view, world.now)],
  ] as const)('that is %s a moment before is not sent', async ([status, order]) => {
    await using world = await EngineTestWorld.open();
    const { pending, schedule } = await world.schedule();
    await started(world);
    await world.time.advance(4_999);
    await world.change(schedule.id, order(world));
    await world.time.advance(60_000);
    expect(world.egress.sent).toEqual([]);
    expect((await world.delivery(pending.id)).status).toBe(status);
    expect(await world.attempts(pending.id)).toEqual([]);
  });

  test('that is canceled while it is being claimed is sent or canceled, not both', async () => {
    await using world = await EngineTestWorld.open();
    const { pending, schedule } = await world.schedule();
    await started(world);
    world.faults.before('claim', () => world.change(schedule.id, (view) => cancel(view, world.now)));
    await world.time.advance(60_000);
    expect(world.egress.sent).toEqual([]);
    expect(await world.attempts(pending.id)).toEqual([]);
  });

  test.for([
    ['earlier', 2_000],
    ['later', 20_000],
  ] as const)('that is moved %s fires at its new instant', async ([, inMs]) => {
    await using world = await EngineTestWorld.open();
    const { schedule } = await world.schedule();
    await started(world);
    await world.time.advance(1_000);
    const timing = world.build.oneShot(inMs);
    const movedTo = instant(world.now + inMs);
    await world.change(schedule.id, (view) => reschedule(view, timing, world.now));
    await world.time.advance(60_000);
    expect(sentAfter(world, movedTo)).toEqual([0]);
  });

  test('that is edited while it is being claimed goes where the edit says, and only there', async () => {
    await using world = await EngineTestWorld.open();
    const { schedule } = await world.schedule();
    await started(world);
    const endpoint = 'https://example.org/other';
    world.faults.before('claim', () =>
      world.change(schedule.id, (view) => edit(view, { endpoint }, world.now)),
    );
    await world.time.advance(10_000);
    expect(world.egress.sent.map(({ request }) => request.url.href)).toEqual([endpoint]);
  });

  test('of a recurring schedule is followed by the next at its instant, and waits for no retry', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => BROKEN;
    const { pending } = await world.schedule({
      timing: { kind: 'recurring', cron: '* * * * *', timezone: 'UTC' },
      retryPolicy: { ...DEFAULT_RETRY_POLICY, base: '45s', factor: 1 },
    });
    await started(world);
    await world.time.advance(150_000);
    const seconds = sentAfter(world, pending.scheduledFor).map((ms) => ms / 1_000);
    expect(seconds).toEqual([0, 45, 60, 90]);
    const [first, ...others] = world.egress.header('Idempotency-Key');
    expect(others.map((key) => key === first)).toEqual([true, false, true]);
  });
});

describe('a retry', () => {
  test('is due at the end of the attempt + min(max, base × factor^n), with the same key', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => BROKEN;
    const retryPolicy = { ...DEFAULT_RETRY_POLICY, maxAttempts: 4, base: '1s', factor: 3, max: '10s' };
    const { pending } = await world.schedule({ retryPolicy });
    await started(world);
    await world.time.advance(120_000);
    expect(sentAfter(world, pending.scheduledFor)).toEqual([0, 3_000, 12_000, 22_000]);
    expect(world.egress.header('Sched-Attempt')).toEqual(['1', '2', '3', '4']);
    expect(new Set(world.egress.header('Idempotency-Key')).size).toBe(1);
    expect(await world.delivery(pending.id)).toMatchObject({ status: 'dead_letter', lastStatusCode: 503 });
  });

  test.for([
    ['20ms', [0, 40, 120, 280]],
    ['0', [0, 0, 0, 0]],
  ] as const)('is in time however soon it is due: base %s', async ([base, expected]) => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => BROKEN;
    const { pending } = await world.schedule({
      retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts: 4, base },
    });
    await started(world);
    await world.time.advance(10_000);
    expect(sentAfter(world, pending.scheduledFor)).toEqual(expected);
  });

  test('counts from the end of the attempt: a time-out of 30 s is one', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => null;
    const { pending } = await world.schedule({ retryPolicy: { ...DEFAULT_RETRY_POLICY, base: '1s' } });
    await started(world);
    await world.time.advance(40_000);
    expect(sentAfter(world, pending.scheduledFor)).toEqual([0, 32_000]);
    expect((await world.attempts(pending.id))[0]).toMatchObject({ error: 'timeout', egressMs: 30_000 });
  });

  test('is not made past the deadline: the delivery has expired at once', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => BROKEN;
    const { pending } = await world.schedule({ ttl: '9s' });
    await started(world);
    await world.time.advance(5_000);
    expect(await world.delivery(pending.id)).toMatchObject({ status: 'expired', finalizedAt: world.now });
    await world.time.advance(60_000);
    expect(world.egress.sent).toHaveLength(1);
  });

  test('is not made after a cancel, and waits through a pause', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => BROKEN;
    const [canceled, paused] = [await world.schedule(), await world.schedule()];
    await started(world);
    await world.time.advance(6_000);
    await world.change(canceled.schedule.id, (view) => cancel(view, world.now));
    await world.change(paused.schedule.id, (view) => pause(view, world.now));
    await world.time.advance(60_000);
    expect(world.egress.sent).toHaveLength(2);
    await world.change(paused.schedule.id, (view) => resume(view, world.now));
    await world.time.advance(1_000);
    expect(idsSent(world).at(-1)).toBe(paused.pending.id);
    expect(world.egress.header('Sched-Attempt').at(-1)).toBe('2');
  });
});

describe('after a downtime', () => {
  test('what is overdue fires once, late; what has expired ends with no attempt; occurrences are skipped', async () => {
    await using world = await EngineTestWorld.open();
    const late = await world.schedule();
    const expired = await world.schedule({ ttl: '1h' });
    const hourly = await world.schedule({ timing: HOURLY });
    await world.time.advance(5.5 * HOUR_MS);
    await started(world);
    await world.time.advance(1_000);
    expect(world.egress.sent).toHaveLength(2);
    expect(new Set(idsSent(world))).toEqual(new Set([late.pending.id, hourly.pending.id]));
    expect(await world.delivery(expired.pending.id)).toMatchObject({ status: 'expired', attemptCount: 0 });
    expect(await world.attempts(expired.pending.id)).toEqual([]);
    const rows = await world.disk.listDeliveries(
      PARTITION,
      { ...ALL_DELIVERIES, scheduleId: hourly.schedule.id },
      { before: null, limit: 100 },
    );
    expect(rows.map(({ scheduledFor }) => scheduledFor - hourly.pending.scheduledFor)).toEqual([
      5 * HOUR_MS,
      0,
    ]);
  });

  test('everything overdue is worked off, however much it is', async () => {
    await using world = await EngineTestWorld.open();
    for (let each = 0; each < 400; each++) await world.schedule({ url: `https://example.com/${each % 7}` });
    await world.time.advance(HOUR_MS);
    await started(world);
    await world.time.advance(2_000);
    expect(new Set(idsSent(world)).size).toBe(400);
    expect(world.egress.sent).toHaveLength(400);
  });
});

describe('while claims are being written', () => {
  /** So many are due at once, and the store does not answer: how many are asked to be claimed. */
  async function askedToClaim(due: number, lateMs: number): Promise<number> {
    await using world = await EngineTestWorld.open();
    for (let each = 0; each < due; each++) await world.schedule({ url: `https://${each}.example.com/` });
    await world.time.advance(5_000 + lateMs);
    let asked = 0;
    const claim = (writes: readonly unknown[]) => {
      asked += writes.length;
      return new Promise<never>(() => {});
    };
    const store = new Proxy(world.store, {
      get: (target, name) => (name === 'claim' ? claim : Reflect.get(target, name)),
    });
    const { insight, clock, vault, egress, timers, ids, log, metrics, node, cluster } = world;
    const engine = new Engine(
      { store, insight, clock, vault, egress, timers, ids, log, metrics, node, cluster },
      { retentionMs: 0 },
    );
    await engine.start();
    await world.time.advance(100);
    return asked;
  }

  test('at most four batches are, so that others get a word in', async () => {
    const asked = await askedToClaim(400, 0);
    expect(asked).toBeGreaterThan(2 * 64);
    expect(asked).toBeLessThanOrEqual(4 * 64);
  });

  test('of overdue work it is two, which begin small', async () => {
    expect(await askedToClaim(400, 10_000)).toBe(2 * STRIDE_MIN);
  });
});

test('while only looking behind fails, it is not said to fire between', async () => {
  await using world = await EngineTestWorld.open();
  const said: boolean[] = [];
  const listDue = (...given: Parameters<typeof world.store.listDue>) => {
    if (given[1] > world.now) return world.store.listDue(...given);
    said.push(engine.isFiring);
    return Promise.reject(new Error('It takes too long.'));
  };
  const store = new Proxy(world.store, {
    get: (target, name) => (name === 'listDue' ? listDue : Reflect.get(target, name)),
  });
  const { insight, clock, vault, egress, timers, ids, log, metrics, node, cluster } = world;
  const engine: Engine = new Engine(
    { store, insight, clock, vault, egress, timers, ids, log, metrics, node, cluster },
    { retentionMs: 0 },
  );
  await engine.start();
  await world.time.advance(3_000);
  expect(said.length).toBeGreaterThan(2);
  expect(said.slice(1)).not.toContain(true);
});

describe('overdue work', () => {
  test('has a share of its own at a host that has more to do in time than it can', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => null;
    for (let each = 0; each < 850; each++) await world.schedule({ url: `https://example.com/${each}` });
    await world.time.advance(5_000);
    await started(world);
    await world.time.advance(200);
    world.faults.set('refuses', 'listDue');
    await world.schedule({ url: 'https://example.com/late', inMs: 0 });
    await world.time.advance(2_000);
    world.faults.clear();
    await world.time.advance(1_000);
    const isSent = () => world.egress.sent.some(({ request }) => request.url.pathname === '/late');
    expect([world.egress.sent.length > 800, isSent()]).toEqual([true, true]);
  });
});

describe('a hanging endpoint', () => {
  test('does not hold up another', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = ({ url }) => (url.pathname === '/hangs' ? null : OK);
    for (let each = 0; each < 300; each++) await world.schedule({ url: 'https://example.com/hangs' });
    const { pending } = await world.schedule({ url: 'https://example.com/fine', inMs: 6_000 });
    const engine = await started(world);
    await world.time.advance(5_500);
    const { inFlight, waiting } = engine.gauges();
    expect(inFlight).toBeGreaterThan(100);
    expect(inFlight + waiting).toBe(300);
    await world.time.advance(500);
    expect((await world.delivery(pending.id)).status).toBe('succeeded');
    expect(world.egress.sent.at(-1)?.at).toBe(pending.scheduledFor);
  });
});

describe('the clock', () => {
  test('that is set back fires nothing early', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule();
    await started(world);
    await world.time.advance(4_000);
    world.time.setClock(-60_000);
    await world.time.advance(60_999);
    expect(world.egress.sent).toEqual([]);
    await world.time.advance(1);
    expect(sentAfter(world, pending.scheduledFor)).toEqual([0]);
  });

  test('that is set ahead fires what is due then, within a second', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule({ inMs: HOUR_MS });
    await started(world);
    await world.time.advance(4_000);
    world.time.setClock(HOUR_MS);
    await world.time.advance(1_000);
    expect(idsSent(world)).toEqual([pending.id]);
  });
});

describe('the breaker', () => {
  const breakerPolicy: BreakerPolicy = { threshold: 1, baseOpen: '10s', maxOpen: '1h', probeTimeout: '5s' };
  const retryPolicy = { ...DEFAULT_RETRY_POLICY, base: '1m' };

  /** Deliveries through one profile, due so many seconds from now; the requests answer as told, by their turn. */
  async function withBreaker(world: EngineTestWorld, seconds: readonly number[], answers: string) {
    const profile = await world.profile({ breakerPolicy, retryPolicy });
    const views = [];
    for (const second of seconds) views.push(await world.schedule({ profile, inMs: second * 1_000 }));
    world.egress.respond = () => {
      const answer = answers[world.egress.sent.length - 1];
      if (answer === undefined) throw new Error('The test has no answer to that.');
      return answer === '-' ? null : answer === '+' ? OK : BROKEN;
    };
    await started(world);
    const start = world.now;
    return { views, seconds: () => sentAfter(world, start).map((ms) => ms / 1_000) };
  }

  test('puts off what is due while it is open, with no attempt, to the end of the window', async () => {
    await using world = await EngineTestWorld.open();
    const start = world.now;
    const { views, seconds } = await withBreaker(world, [5, 6], 'x+');
    await world.time.advance(14_999);
    const second = views[1]?.pending as Delivery;
    expect(await world.delivery(second.id)).toMatchObject({
      status: 'scheduled',
      dueAt: start + 15_000,
      attemptCount: 0,
      booked: false,
    });
    expect(await world.attempts(second.id)).toEqual([]);
    expect(world.metrics.unsents).toEqual(['put_off']);
    await world.time.advance(1);
    expect(seconds()).toEqual([5, 15]);
    expect((await world.delivery(second.id)).status).toBe('succeeded');
  });

  test('lets one probe out, and brings the others forward when it succeeds', async () => {
    await using world = await EngineTestWorld.open();
    const { seconds } = await withBreaker(world, [5, 6, 7, 8], 'x-++');
    await world.time.advance(16_000);
    expect(seconds()).toEqual([5, 15]);
    world.egress.sent[1]?.answer(OK);
    await world.time.advance(0);
    expect(seconds()).toEqual([5, 15, 16, 16]);
  });

  test('lets the next one probe when there is no verdict within probe_timeout', async () => {
    await using world = await EngineTestWorld.open();
    const { seconds } = await withBreaker(world, [5, 6, 7], 'x--');
    await world.time.advance(25_000);
    expect(seconds()).toEqual([5, 15, 20]);
  });

  test('lets the next one probe when the probe was canceled before it was sent', async () => {
    await using world = await EngineTestWorld.open();
    const { views, seconds } = await withBreaker(world, [5, 6, 16], 'x+');
    await world.time.advance(14_000);
    const probe = views[1];
    if (probe === undefined) throw new Error('There are three.');
    world.faults.before('claim', () => world.change(probe.schedule.id, (view) => cancel(view, world.now)));
    await world.time.advance(10_000);
    expect(seconds()).toEqual([5, 16]);
  });

  test('doubles the window at each failed probe', async () => {
    await using world = await EngineTestWorld.open();
    const { seconds } = await withBreaker(world, [5, 6, 7, 8], 'xxxx');
    await world.time.advance(100_000);
    expect(seconds()).toEqual([5, 15, 35, 75]);
  });

  test('ends at once what would be too late at the end of the window', async () => {
    await using world = await EngineTestWorld.open();
    const profile = await world.profile({ breakerPolicy, retryPolicy });
    await world.schedule({ profile });
    const { pending } = await world.schedule({ profile, inMs: 6_000, ttl: '5s' });
    world.egress.respond = () => BROKEN;
    await started(world);
    await world.time.advance(6_000);
    expect(await world.delivery(pending.id)).toMatchObject({ status: 'expired', attemptCount: 0 });
  });

  test('does not count names that do not resolve, redirects, or what never left the house', async () => {
    await using world = await EngineTestWorld.open();
    const { views } = await withBreaker(world, [5, 6, 7], '');
    const results = [
      { kind: 'unresolved', why: 'no such name' },
      { kind: 'answered', statusCode: 301 },
      { kind: 'forbidden', why: 'blocked' },
    ] as const;
    world.egress.respond = () => results[world.egress.sent.length - 1] ?? OK;
    await world.time.advance(7_000);
    const statuses = await Promise.all(
      views.map(async ({ pending }) => (await world.delivery(pending.id)).status),
    );
    expect(statuses).toEqual(['retry_scheduled', 'dead_letter', 'dead_letter']);
    expect(world.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 0 });
  });

  test('that closes does not bring forward what was rescheduled meanwhile', async () => {
    await using world = await EngineTestWorld.open();
    const { views } = await withBreaker(world, [5, 6, 7], 'x+++');
    await world.time.advance(8_000);
    const held = views[1];
    if (held === undefined) throw new Error('There are three.');
    const timing = world.build.oneShot(HOUR_MS);
    const movedTo = instant(world.now + HOUR_MS);
    await world.change(held.schedule.id, (view) => reschedule(view, timing, world.now));
    await world.time.advance(60_000);
    expect(await world.delivery(held.pending.id)).toMatchObject({ status: 'scheduled', dueAt: movedTo });
  });

  test('that closes does not bring forward a retry that waits for its backoff', async () => {
    await using world = await EngineTestWorld.open();
    const start = world.now;
    const { views, seconds } = await withBreaker(world, [5, 6, 20], 'xx+++');
    await world.time.advance(60_000);
    expect(seconds().slice(0, 3)).toEqual([5, 15, 35]);
    const probe = views[1]?.pending as Delivery;
    expect(await world.delivery(probe.id)).toMatchObject({
      status: 'retry_scheduled',
      dueAt: start + 15_000 + 120_000,
    });
  });
});

describe('rate limit and retry budget', () => {
  test("a schedule's rate limit paces what goes to its endpoint; the profile's does not", async () => {
    await using world = await EngineTestWorld.open();
    const profile = await world.profile({ rateLimit: { perSecond: 1 } });
    for (let each = 0; each < 4; each++) await world.schedule({ rateLimit: { perSecond: 2 } });
    for (let each = 0; each < 4; each++) await world.schedule({ profile });
    await started(world);
    const start = world.now;
    await world.time.advance(60_000);
    expect(sentAfter(world, start).toSorted((a, b) => a - b)).toEqual([
      5_000, 5_000, 5_000, 5_000, 5_000, 5_500, 6_000, 6_500,
    ]);
  });

  test('a booked turn is kept over a restart', async () => {
    await using world = await EngineTestWorld.open();
    for (let each = 0; each < 3; each++) await world.schedule({ rateLimit: { perSecond: 0.1 } });
    const engine = await started(world);
    const start = world.now;
    await world.time.advance(6_000);
    await engine.stop(0);
    await started(world);
    await world.time.advance(60_000);
    expect(sentAfter(world, start)).toEqual([5_000, 15_000, 25_000]);
  });

  test('a retry that can never have a token is dead-lettered, with no further attempt', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => BROKEN;
    const profile = await world.profile({ retryBudget: { rate: 0, burst: 1 } });
    const { pending } = await world.schedule({ profile });
    await started(world);
    await world.time.advance(120_000);
    expect(await world.delivery(pending.id)).toMatchObject({ status: 'dead_letter', attemptCount: 2 });
    expect(await world.attempts(pending.id)).toHaveLength(2);
    expect(world.metrics.unsents).toEqual(['dead_letter']);
  });

  test('turns that could not be written down are not waited for', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule({ rateLimit: { perSecond: 1 } });
    await started(world);
    world.faults.set('refuses', 'claim', 'putOff', 'saveGates');
    await world.time.advance(60_000);
    world.faults.clear();
    await world.time.advance(5_000);
    expect((await world.delivery(pending.id)).status).toBe('succeeded');
  });
});

describe('a store that is away', () => {
  test.for([
    ['listDue', 900],
    ['findWork', 500],
    ['claim', 500],
  ] as const)('for %s: nothing is sent, and all is sent within %i ms when it is back', async ([verb, ms]) => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule();
    await started(world);
    world.faults.set('refuses', verb);
    await world.time.advance(30_000);
    expect(world.egress.sent).toEqual([]);
    world.faults.clear();
    await world.time.advance(ms);
    expect(idsSent(world)).toEqual([pending.id]);
    expect(await world.attempts(pending.id)).toHaveLength(1);
  });

  test('is not asked all the time', async () => {
    await using world = await EngineTestWorld.open();
    await world.schedule();
    await started(world);
    world.faults.set('refuses', 'claim');
    await world.time.advance(65_000);
    expect(world.faults.times('claim')).toBeLessThanOrEqual(125);
  });

  test('for settling: the outcome is kept, its instant too, and it is sent once', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule();
    await started(world);
    world.faults.set('refuses', 'settle');
    await world.time.advance(60_000);
    world.faults.clear();
    await world.time.advance(1_000);
    expect(world.egress.sent).toHaveLength(1);
    expect(await world.delivery(pending.id)).toMatchObject({
      status: 'succeeded',
      finalizedAt: pending.scheduledFor,
    });
  });

  test('that lost the answer to a claim: the attempt is closed as interrupted, and made again by its policy', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule();
    await started(world);
    world.faults.set('loses', 'claim');
    await world.time.advance(5_000);
    world.faults.clear();
    await world.time.advance(30_000);
    expect(world.egress.header('Sched-Attempt')).toEqual(['2']);
    expect(await world.attempts(pending.id)).toMatchObject([
      { attemptNo: 1, outcome: 'retryable', error: 'interrupted' },
      { attemptNo: 2, outcome: 'success' },
    ]);
  });

  test('that lost another claim while the first is being closed: both are made again', async () => {
    await using world = await EngineTestWorld.open();
    const [first, second] = [await world.schedule({ inMs: 5_000 }), await world.schedule({ inMs: 7_000 })];
    await started(world);
    world.faults.set('loses', 'claim');
    world.faults.set('refuses', 'settle');
    await world.time.advance(7_100);
    world.faults.clear();
    await world.time.advance(60_000);
    for (const { pending } of [first, second]) {
      expect(await world.delivery(pending.id)).toMatchObject({ status: 'succeeded', attemptCount: 2 });
    }
  });
});
