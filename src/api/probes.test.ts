import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { EngineHarness } from '#test/engine-harness.ts';
import { mountProbes } from './probes.ts';

const METRICS = { contentType: 'text/plain', exposition: async () => '' };

function served(harness: EngineHarness, isFiring: () => boolean = () => true) {
  const server = fastify();
  mountProbes(server, { store: harness.store, clock: harness.clock, metrics: METRICS, isFiring });
  const ready = async () => {
    const { statusCode, body } = await server.inject('/readyz');
    return [statusCode, JSON.parse(body)];
  };
  return { ready, checks: () => harness.faults.times('check') };
}

const READY = [200, { status: 'ready' }];
const NO_STORE = [503, { status: 'unavailable', reason: 'store' }];
const NO_ENGINE = [503, { status: 'unavailable', reason: 'engine' }];

test('a thousand calls within a second cost one write', async () => {
  await using harness = await EngineHarness.open();
  const { ready, checks } = served(harness);
  expect(await ready()).toEqual(READY);
  await harness.time.advance(999);
  for (let each = 0; each < 1_000; each++) expect(await ready()).toEqual(READY);
  expect(checks()).toBe(1);
  await harness.time.advance(1);
  expect(await ready()).toEqual(READY);
  expect(checks()).toBe(2);
});

test('concurrent calls share one check, however long it takes', async () => {
  await using harness = await EngineHarness.open();
  const { ready, checks } = served(harness);
  const { promise, resolve } = Promise.withResolvers<void>();
  harness.faults.before('check', () => promise);
  const early = ready();
  await expect.poll(checks).toBe(1);
  await harness.time.advance(5_000);
  const late = ready();
  await harness.time.advance(5_000);
  resolve();
  expect(await Promise.all([early, late])).toEqual([READY, READY]);
  await harness.time.advance(500);
  expect(await ready()).toEqual(READY);
  expect(checks()).toBe(1);
});

test('a failed check is reused for a second, and then the store is checked again', async () => {
  await using harness = await EngineHarness.open();
  const { ready, checks } = served(harness);
  harness.faults.set('refuses', 'check');
  expect(await ready()).toEqual(NO_STORE);
  harness.faults.clear();
  await harness.time.advance(999);
  expect(await ready()).toEqual(NO_STORE);
  expect(checks()).toBe(1);
  await harness.time.advance(1);
  expect(await ready()).toEqual(READY);
});

test.for([-86_400_000, 86_400_000])('a result is not reused after the clock was set by %i ms', async (ms) => {
  await using harness = await EngineHarness.open();
  const { ready, checks } = served(harness);
  await ready();
  harness.faults.set('refuses', 'check');
  harness.time.setClock(ms);
  expect(await ready()).toEqual(NO_STORE);
  expect(checks()).toBe(2);
});

test('whether the engine sends deliveries is checked for each call', async () => {
  await using harness = await EngineHarness.open();
  let isFiring = true;
  const { ready, checks } = served(harness, () => isFiring);
  expect(await ready()).toEqual(READY);
  isFiring = false;
  expect(await ready()).toEqual(NO_ENGINE);
  expect(checks()).toBe(1);
});
