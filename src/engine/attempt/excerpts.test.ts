/** The beginning of an answer: how much is asked for, what waits for it, and what is stored. */

import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { DEFAULT_BREAKER_POLICY } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { cancel } from '#src/domain/schedule-lifecycle.ts';
import { responseContext } from '#src/domain/sealing-contexts.ts';
import { Engine } from '#src/engine/engine.ts';
import type { AnswerExcerpt, SendResult } from '#src/ports/egress.ts';
import {
  BROKEN,
  EngineHarness,
  OK,
  PARTITION,
  type ScheduleOptions,
  type Sent,
} from '#test/engine-harness.ts';
import { scheduleIdOf } from '#test/store-contract/builders.ts';

const EXCERPT: AnswerExcerpt = {
  contentType: 'text/plain',
  bytes: Buffer.from('upstream timed out'),
  isTruncated: true,
};
const NEVER_OPENS = { ...DEFAULT_BREAKER_POLICY, threshold: 1_000 };
const STORED = { statusCode: 503, contentType: 'text/plain', isTruncated: true, text: 'upstream timed out' };

async function started(harness: EngineHarness, excerptBytesMax = 4_096): Promise<Engine> {
  const engine = new Engine(harness, { retentionMs: 0, excerptBytesMax });
  await engine.start();
  return engine;
}

interface Answered {
  readonly engine: Engine;
  readonly pending: Delivery;
  readonly sent: Sent;
  /** The rest of the answer arrives. */
  readonly arrive: () => void;
}

/** An attempt that was answered with 503, 40 ms after it was sent. The body of the answer has not arrived. */
async function answeredAttempt(harness: EngineHarness, given: ScheduleOptions = {}): Promise<Answered> {
  harness.egress.respond = () => null;
  const { pending } = await harness.schedule(given);
  const engine = await started(harness);
  await harness.time.advance(5_040);
  const [sent] = harness.egress.sent;
  if (sent === undefined) throw new Error('Nothing was sent.');
  const { promise, resolve } = Promise.withResolvers<AnswerExcerpt>();
  sent.answer({ kind: 'answered', statusCode: 503, excerpt: promise });
  await harness.time.settled();
  return { engine, pending, sent, arrive: () => resolve(EXCERPT) };
}

async function stored(harness: EngineHarness, id: DeliveryId, attemptNo = 1) {
  const kept = await harness.disk.findResponse(PARTITION, id, attemptNo);
  if (kept === null) return null;
  const { sealed, ...rest } = kept;
  expect(Buffer.from(sealed).includes('upstream')).toBe(false);
  const text = harness.vault.open(responseContext(PARTITION, id, attemptNo), sealed);
  return { ...rest, text: Buffer.from(text).toString() };
}

describe('how much is asked for', () => {
  test.for([
    ['an inline destination', undefined, 4_096],
    ['a profile that does not say it', null, 4_096],
    ['a profile that says it', 100, 100],
    ['a profile that wants none', 0, 0],
  ] as const)('%s: %s gives %i bytes', async ([, responseExcerpt, expected]) => {
    await using harness = await EngineHarness.open();
    const profile = responseExcerpt === undefined ? null : await harness.profile({ responseExcerpt });
    await harness.schedule({ profile });
    await started(harness);
    await harness.time.advance(5_000);
    expect(harness.egress.sent.map(({ request }) => request.excerptBytesMax)).toEqual([expected]);
  });

  test('nothing, if the operator has not set it', async () => {
    await using harness = await EngineHarness.open();
    await harness.schedule();
    await new Engine(harness, { retentionMs: 0 }).start();
    await harness.time.advance(5_000);
    expect(harness.egress.sent[0]?.request.excerptBytesMax).toBe(0);
  });
});

describe('the beginning of an answer', () => {
  test('is stored encrypted with its attempt, which ended with the head', async () => {
    await using harness = await EngineHarness.open();
    const { pending, arrive } = await answeredAttempt(harness);
    const endedAt = harness.now;
    await harness.time.advance(1_500);
    expect((await harness.delivery(pending.id)).status).toBe('claimed');
    arrive();
    await harness.time.settled();
    expect(await harness.attempts(pending.id)).toMatchObject([
      { statusCode: 503, finishedAt: endedAt, egressMs: 40, timing: { firstByteMs: 40 } },
    ]);
    expect(await harness.delivery(pending.id)).toMatchObject({
      status: 'retry_scheduled',
      dueAt: endedAt + 10_000,
    });
    expect(await stored(harness, pending.id)).toEqual(STORED);
    expect(await stored(harness, pending.id, 2)).toBeNull();
    expect(JSON.stringify(harness.log.lines)).not.toContain('upstream');
  });

  test('is stored once for each attempt that has one', async () => {
    await using harness = await EngineHarness.open();
    const { pending, arrive } = await answeredAttempt(harness);
    arrive();
    harness.egress.respond = () => OK;
    await harness.time.advance(10_000);
    expect((await harness.delivery(pending.id)).status).toBe('succeeded');
    expect([await stored(harness, pending.id, 1), await stored(harness, pending.id, 2)]).toEqual([
      STORED,
      null,
    ]);
  });

  test('keeps no permit: as many others are sent meanwhile as without it', async () => {
    const results: SendResult[] = [
      BROKEN,
      { kind: 'answered', statusCode: 503, excerpt: new Promise(() => {}) },
    ];
    const sent = results.map(async (result) => {
      await using harness = await EngineHarness.open();
      const profile = await harness.profile({ breakerPolicy: NEVER_OPENS });
      harness.egress.respond = () => result;
      for (let each = 0; each < 300; each++) await harness.schedule({ profile });
      await started(harness);
      await harness.time.advance(5_000);
      expect(harness.metrics.gauges?.()).toMatchObject({ inFlight: 0, waiting: 0 });
      return harness.egress.sent.length;
    });
    expect(await Promise.all(sent)).toEqual([300, 300]);
  });

  test('does not delay what the answer releases: the breaker opens with the head', async () => {
    await using harness = await EngineHarness.open();
    harness.egress.respond = () => ({ kind: 'answered', statusCode: 503, excerpt: new Promise(() => {}) });
    for (let each = 0; each < 5; each++) await harness.schedule();
    await started(harness);
    await harness.time.advance(5_000);
    expect(harness.metrics.gauges?.()).toMatchObject({ breakers: { open: 1 } });
  });

  test('stays when the schedule is canceled meanwhile', async () => {
    await using harness = await EngineHarness.open();
    const { pending, arrive } = await answeredAttempt(harness);
    await harness.change(scheduleIdOf(pending), (view) => cancel(view, harness.now));
    arrive();
    await harness.time.settled();
    expect((await harness.delivery(pending.id)).status).toBe('canceled');
    expect(await stored(harness, pending.id)).toEqual(STORED);
  });

  test('stays when the store is away, or its answer is lost', async () => {
    for (const fault of ['refuses', 'loses'] as const) {
      await using harness = await EngineHarness.open();
      const { pending, arrive } = await answeredAttempt(harness);
      harness.faults.set(fault, 'settle');
      arrive();
      await harness.time.settled();
      harness.faults.clear();
      await harness.time.advance(1_000);
      expect(await stored(harness, pending.id)).toEqual(STORED);
    }
  });
});

describe('while the beginning of an answer is awaited', () => {
  test('a stop waits for it within the grace', async () => {
    await using harness = await EngineHarness.open();
    const { engine, pending, sent, arrive } = await answeredAttempt(harness);
    const stop = engine.stop(10_000);
    await harness.time.advance(1_000);
    expect(sent.isBrokenOff).toBe(false);
    arrive();
    await stop;
    expect(await stored(harness, pending.id)).toEqual(STORED);
    expect(harness.time.pending).toBe(0);
  });

  test('a stop with a shorter grace ends it, and stores what was read', async () => {
    await using harness = await EngineHarness.open();
    const { engine, pending, sent, arrive } = await answeredAttempt(harness);
    const stop = engine.stop(500);
    await harness.time.advance(500);
    expect(sent.isBrokenOff).toBe(true);
    arrive();
    await stop;
    expect(await harness.attempts(pending.id)).toMatchObject([{ statusCode: 503, error: 'HTTP 503' }]);
    expect(await stored(harness, pending.id)).toEqual(STORED);
  });

  test('a crash leaves an attempt that the next start closes, as without it', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await answeredAttempt(harness);
    harness.node = 'node-2';
    await started(harness);
    await harness.time.settled();
    expect(await harness.attempts(pending.id)).toMatchObject([{ statusCode: null, error: 'interrupted' }]);
    expect(await stored(harness, pending.id)).toBeNull();
  });
});
