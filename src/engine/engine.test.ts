import { describe, expect, test } from 'vitest';
import { BROKEN, EngineHarness, OK, requireDue } from '#test/engine-harness.ts';
import { HOUR_MS } from '#test/store-contract/builders.ts';
import { Engine } from './engine.ts';

async function started(harness: EngineHarness, retentionMs = 0): Promise<Engine> {
  const engine = new Engine(harness, { retentionMs });
  await engine.start();
  return engine;
}

/** Returns whether the promise has resolved by now. */
function watched(promise: Promise<void>): { readonly isDone: () => boolean } {
  let isDone = false;
  void promise.finally(() => {
    isDone = true;
  });
  return { isDone: () => isDone };
}

describe('a stop', () => {
  test('lets requests in flight finish within the grace, and ends with the last of them', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => null;
    const views = [await harness.schedule(), await harness.schedule()];
    const engine = await started(harness);
    await harness.time.advance(5_000);
    const stop = watched(engine.stop(10_000));
    await harness.time.advance(3_000);
    harness.egress.sent[0]?.answer(OK);
    await harness.time.advance(1_000);
    expect(stop.isDone()).toBe(false);
    harness.egress.sent[1]?.answer(BROKEN);
    await harness.time.settled();
    expect(stop.isDone()).toBe(true);
    const statuses = await Promise.all(
      views.map(async ({ pending }) => (await harness.delivery(pending.id)).status),
    );
    expect(statuses).toEqual(['succeeded', 'retry_scheduled']);
    expect(harness.time.pending).toBe(0);
  });

  test('interrupts requests that are in flight after the grace, and does not count them against the breaker', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => null;
    const { pending } = await harness.schedule();
    const engine = await started(harness);
    await harness.time.advance(5_000);
    const stop = watched(engine.stop(10_000));
    await harness.time.advance(9_999);
    expect([stop.isDone(), harness.egress.sent[0]?.isBrokenOff]).toEqual([false, false]);
    await harness.time.advance(1);
    expect([stop.isDone(), harness.egress.sent[0]?.isBrokenOff]).toEqual([true, true]);
    expect(await harness.attempts(pending.id)).toMatchObject([
      { outcome: 'retryable', statusCode: null, error: 'interrupted', egressMs: 10_000 },
    ]);
    expect(await harness.delivery(pending.id)).toMatchObject({
      status: 'retry_scheduled',
      dueAt: harness.now + 10_000,
    });
    const [work] = await harness.disk.loadDeliveries([pending]);
    expect(work?.gate).toBeNull();
    expect(harness.time.pending).toBe(0);
  });

  test('claims nothing more: no hints, no deliveries that come due, none that wait for a permit', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => null;
    for (let each = 0; each < 200; each++) await harness.schedule();
    const next = await harness.schedule({ inMs: 6_000, url: 'https://example.com/other' });
    const engine = await started(harness);
    await harness.time.advance(5_000);
    const inFlight = harness.egress.sent.length;
    expect(inFlight).toBeLessThan(200);
    const stop = watched(engine.stop(HOUR_MS));
    engine.due(requireDue(next.pending));
    engine.rescan();
    for (const sent of harness.egress.sent) sent.answer(OK);
    await harness.time.advance(10 * 60_000);
    expect([stop.isDone(), harness.egress.sent.length]).toEqual([true, inFlight]);
    expect((await harness.delivery(next.pending.id)).status).toBe('scheduled');
    expect(harness.faults.times('claim')).toBe(Math.ceil(inFlight / 64));
  });

  test('while a claim is being written sends the request and waits for it', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule();
    const engine = await started(harness);
    const stops: { readonly isDone: () => boolean }[] = [];
    harness.egress.respond = () => null;
    harness.faults.before('claim', async () => {
      await Promise.resolve();
      stops.push(watched(engine.stop(10_000)));
    });
    await harness.time.advance(5_000);
    expect([stops[0]?.isDone(), harness.egress.sent.length]).toEqual([false, 1]);
    harness.egress.sent[0]?.answer(OK);
    await harness.time.settled();
    expect(stops[0]?.isDone()).toBe(true);
    expect((await harness.delivery(pending.id)).status).toBe('succeeded');
  });

  test('while a claim takes longer than the grace sends nothing and interrupts the attempt', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule();
    const engine = await started(harness);
    const disk = Promise.withResolvers<void>();
    harness.faults.before('claim', () => disk.promise);
    await harness.time.advance(5_000);
    const stop = watched(engine.stop(1_000));
    await harness.time.advance(2_000);
    expect(stop.isDone()).toBe(false);
    disk.resolve();
    await harness.time.settled();
    expect([stop.isDone(), harness.egress.sent]).toEqual([true, []]);
    expect(await harness.delivery(pending.id)).toMatchObject({
      status: 'retry_scheduled',
      error: 'interrupted',
    });
  });

  test('while due work is being read does not claim it', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule();
    const engine = await started(harness);
    harness.faults.before('loadDeliveries', () => void engine.stop(10_000));
    await harness.time.advance(60_000);
    expect([harness.egress.sent, harness.faults.times('claim')]).toEqual([[], 0]);
    expect(await harness.delivery(pending.id)).toEqual(pending);
    expect(harness.time.pending).toBe(0);
  });

  test('saves the gates', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => BROKEN;
    const { pending } = await harness.schedule();
    const engine = await started(harness);
    await harness.time.advance(5_000);
    await engine.stop(10_000);
    const [work] = await harness.disk.loadDeliveries([pending]);
    expect(work?.gate?.breaker.failures).toBe(1);
  });

  test('with a store that is away ends too, and the next start finds unsettled attempts', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => null;
    const { pending } = await harness.schedule();
    const engine = await started(harness);
    await harness.time.advance(5_000);
    harness.faults.set('refuses', 'settle');
    const stop = watched(engine.stop(1_000));
    await harness.time.advance(1_000);
    expect(stop.isDone()).toBe(true);
    expect((await harness.delivery(pending.id)).status).toBe('claimed');

    harness.faults.clear();
    harness.node = 'node-2';
    await started(harness);
    expect(await harness.delivery(pending.id)).toMatchObject({
      status: 'retry_scheduled',
      error: 'interrupted',
    });
  });

  test('while history is being removed waits for one step at most', async () => {
    await using harness = await EngineHarness.open();
    for (let each = 0; each < 60; each++) await harness.schedule();
    const engine = await started(harness, 1);
    await harness.time.advance(5_025);
    const prunes = harness.faults.times('prune');
    const stop = watched(engine.stop(10_000));
    await harness.time.advance(25);
    expect(stop.isDone()).toBe(true);
    await harness.time.advance(60_000);
    expect(harness.faults.times('prune')).toBeLessThanOrEqual(prunes + 1);
    expect(harness.time.pending).toBe(0);
  });

  test('before the start is over fires nothing', async () => {
    await using harness = await EngineHarness.open();
    await harness.schedule();
    harness.faults.set('refuses', 'listLostClaims');
    const engine = new Engine(harness, { retentionMs: 0 });
    const starting = engine.start();
    await harness.time.advance(2_000);
    await engine.stop(0);
    harness.faults.clear();
    await harness.time.advance(60_000);
    await starting;
    expect(harness.egress.sent).toEqual([]);
    expect(harness.time.pending).toBe(0);
  });
});

describe('a start', () => {
  test('closes the attempts that the process before left, before anything is fired', async () => {
    await using harness = await EngineHarness.open();
    const view = await harness.schedule();
    await harness.time.advance(5_000);
    await harness.disk.claim([harness.build.claim(view.pending, view, 'dead-node')]);
    await started(harness);
    expect(await harness.attempts(view.pending.id)).toMatchObject([{ error: 'interrupted' }]);
    expect(harness.egress.sent).toEqual([]);
    await harness.time.advance(10_000);
    expect(harness.egress.header('Sched-Attempt')).toEqual(['2']);
  });

  test('waits for a store that is away', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule();
    harness.faults.set('refuses', 'listLostClaims');
    const engine = new Engine(harness, { retentionMs: 0 });
    void engine.start();
    await harness.time.advance(10_000);
    expect(harness.egress.sent).toEqual([]);
    harness.faults.clear();
    await harness.time.advance(1_000);
    expect(harness.egress.header('Sched-Delivery-Id')).toEqual([pending.id]);
  });
});

describe('a start that cannot close the attempts that were left', () => {
  test('fires nothing, and a stop still works', async () => {
    await using harness = await EngineHarness.open();
    const view = await harness.schedule();
    await harness.time.advance(5_000);
    await harness.disk.claim([harness.build.claim(view.pending, view, 'dead-node')]);
    harness.faults.set('refuses', 'settle');
    const engine = new Engine(harness, { retentionMs: 0 });
    const start = watched(engine.start());
    await harness.time.advance(5_000);
    expect([start.isDone(), engine.isFiring]).toEqual([false, false]);
    const stop = watched(engine.stop(1_000));
    await harness.time.advance(3_000);
    expect([stop.isDone(), start.isDone()]).toEqual([true, true]);
    expect(harness.egress.sent).toEqual([]);
  });
});

describe('the engine shows', () => {
  test('how many deliveries are in flight and waiting, and which breakers are open', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => null;
    for (let each = 0; each < 5; each++) await harness.schedule();
    await started(harness);
    expect(harness.metrics.gauges?.()).toEqual({
      waiting: 0,
      inFlight: 0,
      breakers: { open: 0, halfOpen: 0 },
    });
    await harness.time.advance(5_000);
    expect(harness.metrics.gauges?.()).toMatchObject({ waiting: 0, inFlight: 5 });
    for (const sent of harness.egress.sent) sent.answer(BROKEN);
    await harness.time.settled();
    expect(harness.metrics.gauges?.()).toEqual({
      waiting: 0,
      inFlight: 0,
      breakers: { open: 1, halfOpen: 0 },
    });
  });

  test('one log line for each attempt, with the host of the URL and nothing secret', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_geheim');
    await harness.schedule({
      url: 'https://example.com/geheim?token=geheim',
      payload: { headers: [['Authorization', 'geheim']], body: 'geheim' },
    });
    await started(harness);
    await harness.time.advance(5_000);
    const attempts = harness.log.lines.filter(({ message }) => message === 'attempt');
    expect(attempts).toMatchObject([
      { level: 'info', fields: { host: 'example.com', outcome: 'success', status_code: 200, attempt_no: 1 } },
    ]);
    expect(JSON.stringify(harness.log.lines)).not.toContain('geheim');
    expect(harness.metrics.attempts).toEqual([{ outcome: 'success', status: 'succeeded', seconds: 0 }]);
  });
});
