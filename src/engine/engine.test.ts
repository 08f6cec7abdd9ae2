import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '#src/store/contract/builders.ts';
import { BROKEN, EngineTestWorld, OK, requireDue } from '#test/engine-world.ts';
import { Engine } from './engine.ts';

async function started(world: EngineTestWorld, retentionMs = 0): Promise<Engine> {
  const engine = new Engine(world, { retentionMs });
  await engine.start();
  return engine;
}

/** Whether it has resolved by now. */
function watched(promise: Promise<void>): { readonly isDone: () => boolean } {
  let isDone = false;
  void promise.finally(() => {
    isDone = true;
  });
  return { isDone: () => isDone };
}

describe('a stop', () => {
  test('lets what is under way finish within the grace, and ends with the last of it', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => null;
    const views = [await world.schedule(), await world.schedule()];
    const engine = await started(world);
    await world.time.advance(5_000);
    const stop = watched(engine.stop(10_000));
    await world.time.advance(3_000);
    world.egress.sent[0]?.answer(OK);
    await world.time.advance(1_000);
    expect(stop.isDone()).toBe(false);
    world.egress.sent[1]?.answer(BROKEN);
    await world.time.settled();
    expect(stop.isDone()).toBe(true);
    const statuses = await Promise.all(
      views.map(async ({ pending }) => (await world.delivery(pending.id)).status),
    );
    expect(statuses).toEqual(['succeeded', 'retry_scheduled']);
    expect(world.time.pending).toBe(0);
  });

  test('breaks off after the grace what is still under way, as interrupted, and not against the breaker', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => null;
    const { pending } = await world.schedule();
    const engine = await started(world);
    await world.time.advance(5_000);
    const stop = watched(engine.stop(10_000));
    await world.time.advance(9_999);
    expect([stop.isDone(), world.egress.sent[0]?.isBrokenOff]).toEqual([false, false]);
    await world.time.advance(1);
    expect([stop.isDone(), world.egress.sent[0]?.isBrokenOff]).toEqual([true, true]);
    expect(await world.attempts(pending.id)).toMatchObject([
      { outcome: 'retryable', statusCode: null, error: 'interrupted', egressMs: 10_000 },
    ]);
    expect(await world.delivery(pending.id)).toMatchObject({
      status: 'retry_scheduled',
      dueAt: world.now + 10_000,
    });
    const [work] = await world.disk.findWork([pending]);
    expect(work?.gate).toBeNull();
    expect(world.time.pending).toBe(0);
  });

  test('claims nothing more: not what is hinted at, not what comes due, not what waits for a slot', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => null;
    for (let each = 0; each < 200; each++) await world.schedule();
    const next = await world.schedule({ inMs: 6_000, url: 'https://example.com/other' });
    const engine = await started(world);
    await world.time.advance(5_000);
    const underWay = world.egress.sent.length;
    expect(underWay).toBeLessThan(200);
    const stop = watched(engine.stop(HOUR_MS));
    engine.due(requireDue(next.pending));
    engine.lookAgain();
    for (const sent of world.egress.sent) sent.answer(OK);
    await world.time.advance(10 * 60_000);
    expect([stop.isDone(), world.egress.sent.length]).toEqual([true, underWay]);
    expect((await world.delivery(next.pending.id)).status).toBe('scheduled');
    expect(world.faults.times('claim')).toBe(Math.ceil(underWay / 64));
  });

  test('while a claim is being written: it is sent, and waited for', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule();
    const engine = await started(world);
    const stops: { readonly isDone: () => boolean }[] = [];
    world.egress.respond = () => null;
    world.faults.before('claim', async () => {
      await Promise.resolve();
      stops.push(watched(engine.stop(10_000)));
    });
    await world.time.advance(5_000);
    expect([stops[0]?.isDone(), world.egress.sent.length]).toEqual([false, 1]);
    world.egress.sent[0]?.answer(OK);
    await world.time.settled();
    expect(stops[0]?.isDone()).toBe(true);
    expect((await world.delivery(pending.id)).status).toBe('succeeded');
  });

  test('while a claim is being written, for longer than the grace: it is not sent, but interrupted', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule();
    const engine = await started(world);
    const disk = Promise.withResolvers<void>();
    world.faults.before('claim', () => disk.promise);
    await world.time.advance(5_000);
    const stop = watched(engine.stop(1_000));
    await world.time.advance(2_000);
    expect(stop.isDone()).toBe(false);
    disk.resolve();
    await world.time.settled();
    expect([stop.isDone(), world.egress.sent]).toEqual([true, []]);
    expect(await world.delivery(pending.id)).toMatchObject({
      status: 'retry_scheduled',
      error: 'interrupted',
    });
  });

  test('while due work is being read: it is not claimed', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule();
    const engine = await started(world);
    world.faults.before('findWork', () => void engine.stop(10_000));
    await world.time.advance(60_000);
    expect([world.egress.sent, world.faults.times('claim')]).toEqual([[], 0]);
    expect(await world.delivery(pending.id)).toEqual(pending);
    expect(world.time.pending).toBe(0);
  });

  test('saves the gates as they are', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => BROKEN;
    const { pending } = await world.schedule();
    const engine = await started(world);
    await world.time.advance(5_000);
    await engine.stop(10_000);
    const [work] = await world.disk.findWork([pending]);
    expect(work?.gate?.breaker.failures).toBe(1);
  });

  test('with a store that is away ends all the same; what was not settled is found at the next start', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => null;
    const { pending } = await world.schedule();
    const engine = await started(world);
    await world.time.advance(5_000);
    world.faults.set('refuses', 'settle');
    const stop = watched(engine.stop(1_000));
    await world.time.advance(1_000);
    expect(stop.isDone()).toBe(true);
    expect((await world.delivery(pending.id)).status).toBe('claimed');

    world.faults.clear();
    world.node = 'node-2';
    await started(world);
    expect(await world.delivery(pending.id)).toMatchObject({
      status: 'retry_scheduled',
      error: 'interrupted',
    });
  });

  test('in the middle of tidying up waits for no more than the pause', async () => {
    await using world = await EngineTestWorld.open();
    for (let each = 0; each < 60; each++) await world.schedule();
    const engine = await started(world, 1);
    await world.time.advance(5_025);
    const prunes = world.faults.times('prune');
    const stop = watched(engine.stop(10_000));
    await world.time.advance(25);
    expect(stop.isDone()).toBe(true);
    await world.time.advance(60_000);
    expect(world.faults.times('prune')).toBeLessThanOrEqual(prunes + 1);
    expect(world.time.pending).toBe(0);
  });

  test('before the start is over: nothing is fired', async () => {
    await using world = await EngineTestWorld.open();
    await world.schedule();
    world.faults.set('refuses', 'listLostClaims');
    const engine = new Engine(world, { retentionMs: 0 });
    const starting = engine.start();
    await world.time.advance(2_000);
    await engine.stop(0);
    world.faults.clear();
    await world.time.advance(60_000);
    await starting;
    expect(world.egress.sent).toEqual([]);
    expect(world.time.pending).toBe(0);
  });
});

describe('a start', () => {
  test('closes what the process before left under way, before anything is fired', async () => {
    await using world = await EngineTestWorld.open();
    const view = await world.schedule();
    await world.time.advance(5_000);
    await world.disk.claim([world.build.claim(view.pending, view, 'dead-node')]);
    await started(world);
    expect(await world.attempts(view.pending.id)).toMatchObject([{ error: 'interrupted' }]);
    expect(world.egress.sent).toEqual([]);
    await world.time.advance(10_000);
    expect(world.egress.header('Sched-Attempt')).toEqual(['2']);
  });

  test('waits for a store that is away', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule();
    world.faults.set('refuses', 'listLostClaims');
    const engine = new Engine(world, { retentionMs: 0 });
    void engine.start();
    await world.time.advance(10_000);
    expect(world.egress.sent).toEqual([]);
    world.faults.clear();
    await world.time.advance(1_000);
    expect(world.egress.header('Sched-Delivery-Id')).toEqual([pending.id]);
  });
});

describe('a start that cannot close what was left under way', () => {
  test('fires nothing, and a stop is heard all the same', async () => {
    await using world = await EngineTestWorld.open();
    const view = await world.schedule();
    await world.time.advance(5_000);
    await world.disk.claim([world.build.claim(view.pending, view, 'dead-node')]);
    world.faults.set('refuses', 'settle');
    const engine = new Engine(world, { retentionMs: 0 });
    const start = watched(engine.start());
    await world.time.advance(5_000);
    expect([start.isDone(), engine.isFiring]).toEqual([false, false]);
    const stop = watched(engine.stop(1_000));
    await world.time.advance(3_000);
    expect([stop.isDone(), start.isDone()]).toEqual([true, true]);
    expect(world.egress.sent).toEqual([]);
  });
});

describe('what can be read off the engine', () => {
  test('what is under way, what waits, which breakers are open', async () => {
    await using world = await EngineTestWorld.open();
    world.egress.respond = () => null;
    for (let each = 0; each < 5; each++) await world.schedule();
    await started(world);
    expect(world.metrics.gauges?.()).toEqual({ waiting: 0, inFlight: 0, breakers: { open: 0, halfOpen: 0 } });
    await world.time.advance(5_000);
    expect(world.metrics.gauges?.()).toMatchObject({ waiting: 0, inFlight: 5 });
    for (const sent of world.egress.sent) sent.answer(BROKEN);
    await world.time.settled();
    expect(world.metrics.gauges?.()).toEqual({ waiting: 0, inFlight: 0, breakers: { open: 1, halfOpen: 0 } });
  });

  test('one line for each attempt, which shows of the URL only the host, and nothing secret', async () => {
    await using world = await EngineTestWorld.open();
    await world.secret('whsec_geheim');
    await world.schedule({
      url: 'https://example.com/geheim?token=geheim',
      payload: { headers: [['Authorization', 'geheim']], body: 'geheim' },
    });
    await started(world);
    await world.time.advance(5_000);
    const attempts = world.log.lines.filter(({ message }) => message === 'attempt');
    expect(attempts).toMatchObject([
      { level: 'info', fields: { host: 'example.com', outcome: 'success', status_code: 200, attempt_no: 1 } },
    ]);
    expect(JSON.stringify(world.log.lines)).not.toContain('geheim');
    expect(world.metrics.attempts).toEqual([{ outcome: 'success', status: 'succeeded', seconds: 0 }]);
  });
});
