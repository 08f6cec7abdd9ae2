import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { Partition } from '#src/domain/project.ts';
import {
  type Draft,
  RequestBuilder,
  SMALL_PAYLOAD_BYTES_MAX,
  type Unsendable,
} from '#src/engine/attempt/request-builder.ts';
import { Engine } from '#src/engine/engine.ts';
import { EngineHarness, requireDue } from '#test/engine-harness.ts';
import { LargePayloads } from './large-payloads.ts';

const HUGE = 'x'.repeat(768 * 1_024);

/** A builder that records its reads, and answers when the test calls `answer`. */
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
  test('are read a few at a time, round robin by customer', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule({ payload: { body: HUGE } });
    const builder = new SlowBuilder(harness);
    const payloads = new LargePayloads(harness, builder);
    const order: number[] = [];
    for (const customer of [1, 1, 1, 1, 2]) {
      const delivery = { ...pending, partition: customer as Partition };
      void payloads.load(delivery, () => true).then(() => order.push(customer));
    }
    await harness.time.settled();
    expect(builder.reading.map(({ delivery }) => delivery.partition)).toEqual([1, 1]);
    for (const reading of builder.reading.slice()) reading.answer();
    await harness.time.advance(1);
    expect(order).toEqual([1, 1]);
    expect(builder.reading.map(({ delivery }) => delivery.partition)).toEqual([1, 1, 1, 2]);
  });

  test('of medium size do not wait for larger ones', async () => {
    await using harness = await EngineHarness.open();
    const { pending: huge } = await harness.schedule({ payload: { body: HUGE } });
    const { pending: medium } = await harness.schedule({ payload: { body: HUGE.slice(0, 20_000) } });
    const builder = new SlowBuilder(harness);
    const payloads = new LargePayloads(harness, builder);
    for (let n = 0; n < 4; n++) void payloads.load(huge, () => true);
    const loads = Array.from({ length: 10 }, () => payloads.load(medium, () => true));
    await harness.time.settled();
    const [, , ...others] = builder.reading;
    expect(others.map(({ delivery }) => delivery.id)).toEqual(loads.map(() => medium.id));
    for (const reading of others) reading.answer();
    expect(await Promise.all(loads)).toHaveLength(10);
  });

  test('are handed over one by one: none waits for a slow one', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule({ payload: { body: HUGE } });
    const builder = new SlowBuilder(harness);
    const payloads = new LargePayloads(harness, builder);
    const [first, second] = [payloads.load(pending, () => true), payloads.load(pending, () => true)];
    await harness.time.settled();
    builder.reading[1]?.answer();
    expect(await second).toMatchObject({ kind: 'draft' });
    builder.reading[0]?.answer();
    expect(await first).toMatchObject({ kind: 'draft' });
  });
});

describe('a delivery with a large payload', () => {
  async function started(harness: EngineHarness): Promise<Engine> {
    const engine = new Engine(harness, { retentionMs: 0 });
    await engine.start();
    return engine;
  }

  test('is claimed once its payload is read, and sent completely', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule({ payload: { body: HUGE } });
    await started(harness);
    harness.faults.set('refuses', 'loadPayloads');
    await harness.time.advance(6_000);
    expect(harness.faults.times('claim')).toBe(0);
    expect(await harness.attempts(pending.id)).toEqual([]);
    harness.faults.clear();
    await harness.time.advance(3_000);
    expect(harness.egress.sent[0]?.request.body?.length).toBe(HUGE.length);
    expect((await harness.delivery(pending.id)).status).toBe('succeeded');
  });

  test('that cannot be read does not stop others from being claimed', async () => {
    await using harness = await EngineHarness.open();
    await harness.schedule({ payload: { body: HUGE } });
    const engine = await started(harness);
    harness.faults.set('refuses', 'loadPayloads');
    await harness.time.advance(6_000);
    const small = await harness.schedule({ url: 'https://example.com/small', inMs: 1_000 });
    const isFiring: boolean[] = [];
    for (let steps = 0; steps < 20; steps++) {
      await harness.time.advance(100);
      isFiring.push(engine.isFiring);
    }
    expect(isFiring).not.toContain(false);
    // The payload of the small delivery cannot be read either, but it is read after the claim.
    expect((await harness.delivery(small.pending.id)).status).toBe('claimed');
  });

  test('is not read any more once it is not wanted', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule({ payload: { body: HUGE } });
    const builder = new SlowBuilder(harness);
    const payloads = new LargePayloads(harness, builder);
    let isWanted = true;
    const loads = [1, 2, 3, 4].map(() => payloads.load(pending, () => isWanted));
    isWanted = false;
    for (const reading of builder.reading.slice()) reading.answer();
    await harness.time.advance(1);
    const loaded = await Promise.all(loads);
    expect(loaded.map((draft) => draft?.kind ?? null)).toEqual(['draft', 'draft', null, null]);
    expect(builder.reading).toHaveLength(2);
  });

  test('is not read while its breaker is open', async () => {
    await using harness = await EngineHarness.open();
    const breakerPolicy = { threshold: 1, baseOpen: '1h', maxOpen: '1h', probeTimeout: '1h' };
    const profile = await harness.profile({ breakerPolicy });
    harness.egress.respond = () => ({ kind: 'answered', statusCode: 500 });
    await harness.schedule({ profile, inMs: 1_000 });
    await started(harness);
    await harness.time.advance(2_000);
    const { pending } = await harness.schedule({ profile, inMs: 1_000, payload: { body: HUGE } });
    const before = harness.faults.times('loadPayloads');
    await harness.time.advance(2_000);
    expect((await harness.delivery(pending.id)).dueAt).toBeGreaterThan(harness.now + 60_000);
    expect(harness.faults.times('loadPayloads')).toBe(before);
  });

  test('does not delay a small one of the same batch', async () => {
    await using harness = await EngineHarness.open();
    const large = await harness.schedule({ payload: { body: 'x'.repeat(SMALL_PAYLOAD_BYTES_MAX + 1) } });
    await harness.schedule({ url: 'https://example.com/small', payload: { body: 'small' } });
    await started(harness);
    await harness.time.advance(4_900);
    let answerLarge = () => {};
    const waiting = new Promise<void>((resolve) => {
      answerLarge = resolve;
    });
    harness.faults.before('loadPayloads', () => waiting);
    await harness.time.advance(100);
    expect(harness.egress.sent.map(({ request }) => request.url.pathname)).toEqual(['/small']);
    answerLarge();
    await harness.time.advance(10);
    expect(harness.egress.sent).toHaveLength(2);
    expect(requireDue(large.pending).payloadBytes).toBeGreaterThan(SMALL_PAYLOAD_BYTES_MAX);
  });
});
