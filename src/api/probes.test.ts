import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { EngineTestWorld } from '#test/engine-world.ts';
import { probes } from './probes.ts';

const METRICS = { contentType: 'text/plain', exposition: async () => '' };

function served(world: EngineTestWorld, isFiring: () => boolean = () => true) {
  const server = fastify();
  probes(server, { store: world.store, clock: world.clock, metrics: METRICS, isFiring });
  const ready = async () => {
    const { statusCode, body } = await server.inject('/readyz');
    return [statusCode, JSON.parse(body)];
  };
  return { ready, checks: () => world.faults.times('check') };
}

const READY = [200, { status: 'ready' }];
const NO_STORE = [503, { status: 'unavailable', reason: 'store' }];
const NO_ENGINE = [503, { status: 'unavailable', reason: 'engine' }];

test('a thousand calls within a second cost one durable write', async () => {
  await using world = await EngineTestWorld.open();
  const { ready, checks } = served(world);
  expect(await ready()).toEqual(READY);
  await world.time.advance(999);
  for (let each = 0; each < 1_000; each++) expect(await ready()).toEqual(READY);
  expect(checks()).toBe(1);
  await world.time.advance(1);
  expect(await ready()).toEqual(READY);
  expect(checks()).toBe(2);
});

test('calls that come together share one check, however long it takes', async () => {
  await using world = await EngineTestWorld.open();
  const { ready, checks } = served(world);
  const { promise, resolve } = Promise.withResolvers<void>();
  world.faults.before('check', () => promise);
  const early = ready();
  await expect.poll(checks).toBe(1);
  await world.time.advance(5_000);
  const late = ready();
  await world.time.advance(5_000);
  resolve();
  expect(await Promise.all([early, late])).toEqual([READY, READY]);
  await world.time.advance(500);
  expect(await ready()).toEqual(READY);
  expect(checks()).toBe(1);
});

test('a failed check is shared as long, and then the store is asked again', async () => {
  await using world = await EngineTestWorld.open();
  const { ready, checks } = served(world);
  world.faults.set('refuses', 'check');
  expect(await ready()).toEqual(NO_STORE);
  world.faults.clear();
  await world.time.advance(999);
  expect(await ready()).toEqual(NO_STORE);
  expect(checks()).toBe(1);
  await world.time.advance(1);
  expect(await ready()).toEqual(READY);
});

test.for([-86_400_000, 86_400_000])(
  'a clock that is set by %i ms does not keep an answer alive',
  async (ms) => {
    await using world = await EngineTestWorld.open();
    const { ready, checks } = served(world);
    await ready();
    world.faults.set('refuses', 'check');
    world.time.setClock(ms);
    expect(await ready()).toEqual(NO_STORE);
    expect(checks()).toBe(2);
  },
);

test('whether it fires is not shared: that costs nothing', async () => {
  await using world = await EngineTestWorld.open();
  let isFiring = true;
  const { ready, checks } = served(world, () => isFiring);
  expect(await ready()).toEqual(READY);
  isFiring = false;
  expect(await ready()).toEqual(NO_ENGINE);
  expect(checks()).toBe(1);
});
