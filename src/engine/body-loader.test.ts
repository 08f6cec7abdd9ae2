import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { Partition } from '#src/domain/partition.ts';
import { EngineTestWorld, requireDue } from '#test/engine-world.ts';
import { BodyLoader } from './body-loader.ts';
import { Engine } from './engine.ts';
import { type Draft, RequestBuilder, SMALL_PAYLOAD_BYTES_MAX, type Unsendable } from './request-builder.ts';

const HUGE = 'x'.repeat(768 * 1_024);

/** A builder that notes what is read, and answers when it is told to. */
class SlowBuilder extends RequestBuilder {
  readonly reading: { readonly delivery: Delivery; answer(): void }[] = [];

  override draft(delivery: Delivery): Promise<Draft | Unsendable> {
    return new Promise((resolve) => {
      const answer = () => resolve(super.draft(delivery));
      this.reading.push({ delivery, answer });
    });
  }
}

describe('large payloads', () => {
  test('are read a few at a time, customers in turns', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule({ payload: { body: HUGE } });
    const builder = new SlowBuilder(world);
    const loader = new BodyLoader(world, builder);
    const order: number[] = [];
    for (const customer of [1, 1, 1, 1, 2]) {
      const delivery = { ...pending, partition: customer as Partition };
      void loader.load(delivery, () => true).then(() => order.push(customer));
    }
    await world.time.settled();
    expect(builder.reading.map(({ delivery }) => delivery.partition)).toEqual([1, 1]);
    for (const reading of builder.reading.slice()) reading.answer();
    await world.time.advance(1);
    expect(order).toEqual([1, 1]);
    expect(builder.reading.map(({ delivery }) => delivery.partition)).toEqual([1, 1, 1, 2]);
  });

  test('of a medium size do not wait for larger ones', async () => {
    await using world = await EngineTestWorld.open();
    const { pending: huge } = await world.schedule({ payload: { body: HUGE } });
    const { pending: medium } = await world.schedule({ payload: { body: HUGE.slice(0, 20_000) } });
    const builder = new SlowBuilder(world);
    const loader = new BodyLoader(world, builder);
    for (let n = 0; n < 4; n++) void loader.load(huge, () => true);
    const loads = Array.from({ length: 10 }, () => loader.load(medium, () => true));
    await world.time.settled();
    const [, , ...others] = builder.reading;
    expect(others.map(({ delivery }) => delivery.id)).toEqual(loads.map(() => medium.id));
    for (const reading of others) reading.answer();
    expect(await Promise.all(loads)).toHaveLength(10);
  });

  test('are answered one by one: none waits for another that is slow', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule({ payload: { body: HUGE } });
    const builder = new SlowBuilder(world);
    const loader = new BodyLoader(world, builder);
    const [first, second] = [loader.load(pending, () => true), loader.load(pending, () => true)];
    await world.time.settled();
    builder.reading[1]?.answer();
    expect(await second).toMatchObject({ kind: 'draft' });
    builder.reading[0]?.answer();
    expect(await first).toMatchObject({ kind: 'draft' });
  });
});

describe('a delivery with a large payload', () => {
  async function started(world: EngineTestWorld): Promise<Engine> {
    const engine = new Engine(world, { retentionMs: 0 });
    await engine.start();
    return engine;
  }

  test('is claimed once its payload is at hand, and sent whole', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule({ payload: { body: HUGE } });
    await started(world);
    world.faults.set('refuses', 'findMessages');
    await world.time.advance(6_000);
    expect(world.faults.times('claim')).toBe(0);
    expect(await world.attempts(pending.id)).toEqual([]);
    world.faults.clear();
    await world.time.advance(3_000);
    expect(world.egress.sent[0]?.request.body?.length).toBe(HUGE.length);
    expect((await world.delivery(pending.id)).status).toBe('succeeded');
  });

  test('that cannot be read keeps nobody else from being claimed', async () => {
    await using world = await EngineTestWorld.open();
    await world.schedule({ payload: { body: HUGE } });
    const engine = await started(world);
    world.faults.set('refuses', 'findMessages');
    await world.time.advance(6_000);
    const small = await world.schedule({ url: 'https://example.com/small', inMs: 1_000 });
    const isFiring: boolean[] = [];
    for (let steps = 0; steps < 20; steps++) {
      await world.time.advance(100);
      isFiring.push(engine.isFiring);
    }
    expect(isFiring).not.toContain(false);
    // Its own message cannot be read either, but that is after its claim.
    expect((await world.delivery(small.pending.id)).status).toBe('claimed');
  });

  test('is not read any more once it is not wanted', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule({ payload: { body: HUGE } });
    const builder = new SlowBuilder(world);
    const loader = new BodyLoader(world, builder);
    let isWanted = true;
    const loads = [1, 2, 3, 4].map(() => loader.load(pending, () => isWanted));
    isWanted = false;
    for (const reading of builder.reading.slice()) reading.answer();
    await world.time.advance(1);
    const loaded = await Promise.all(loads);
    expect(loaded.map((draft) => draft?.kind ?? null)).toEqual(['draft', 'draft', null, null]);
    expect(builder.reading).toHaveLength(2);
  });

  test('is not read while its breaker is open', async () => {
    await using world = await EngineTestWorld.open();
    const breakerPolicy = { threshold: 1, baseOpen: '1h', maxOpen: '1h', probeTimeout: '1h' };
    const profile = await world.profile({ breakerPolicy });
    world.egress.respond = () => ({ kind: 'answered', statusCode: 500 });
    await world.schedule({ profile, inMs: 1_000 });
    await started(world);
    await world.time.advance(2_000);
    const { pending } = await world.schedule({ profile, inMs: 1_000, payload: { body: HUGE } });
    const before = world.faults.times('findMessages');
    await world.time.advance(2_000);
    expect((await world.delivery(pending.id)).dueAt).toBeGreaterThan(world.now + 60_000);
    expect(world.faults.times('findMessages')).toBe(before);
  });

  test('does not keep a small one of the same batch waiting', async () => {
    await using world = await EngineTestWorld.open();
    const large = await world.schedule({ payload: { body: 'x'.repeat(SMALL_PAYLOAD_BYTES_MAX + 1) } });
    await world.schedule({ url: 'https://example.com/small', payload: { body: 'small' } });
    await started(world);
    await world.time.advance(4_900);
    let answerLarge = () => {};
    const waiting = new Promise<void>((resolve) => {
      answerLarge = resolve;
    });
    world.faults.before('findMessages', () => waiting);
    await world.time.advance(100);
    expect(world.egress.sent.map(({ request }) => request.url.pathname)).toEqual(['/small']);
    answerLarge();
    await world.time.advance(10);
    expect(world.egress.sent).toHaveLength(2);
    expect(requireDue(large.pending).payloadBytes).toBeGreaterThan(SMALL_PAYLOAD_BYTES_MAX);
  });
});
