import { describe, expect, test } from 'vitest';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { Settler } from '#src/engine/attempt/settler.ts';
import { OWNS_EVERY_SLOT } from '#src/engine/cluster/slot-ownership.ts';
import type { ClaimWrite } from '#src/ports/store.ts';
import { HOURLY } from '#src/store/contract/builders.ts';
import { EngineHarness, type Order } from '#test/engine-harness.ts';
import { Recovery } from './recovery.ts';
import { StatsRecorder } from './stats-recorder.ts';

async function claimed(harness: EngineHarness, order: Order = {}, node = 'dead-node'): Promise<ClaimWrite> {
  const view = await harness.schedule(order);
  const { build } = harness;
  const by = { node, token: build.ids.mint('att', harness.now) };
  const ids = { attempt: by.token, delivery: build.ids.mint('dlv', harness.now) };
  const write = life.claim(view.pending, view, by, ids, harness.now);
  expect(await harness.disk.claim([write])).toEqual(['done']);
  return write;
}

function recovery(harness: EngineHarness, underWay: readonly string[] = []) {
  const hinted: (DueDelivery | null)[] = [];
  const hints = { due: (due: DueDelivery | null) => void hinted.push(due), rescan: () => {} };
  const settler = new Settler(harness);
  return {
    hinted,
    settler,
    recovery: new Recovery(harness, {
      ownership: OWNS_EVERY_SLOT,
      settler,
      stats: new StatsRecorder(harness),
      hints,
      living: null,
      attempts: { has: (token) => underWay.includes(token) },
    }),
  };
}

describe('an attempt of a process that died', () => {
  test('is closed as interrupted, counts as an attempt, and goes on by its retry policy', async () => {
    await using harness = await EngineHarness.open();
    const { delivery } = await claimed(harness);
    await harness.time.advance(60_000);
    const { recovery: lost, hinted } = recovery(harness);
    expect(await lost.run(true)).toBe(1);
    expect(await harness.attempts(delivery.id)).toMatchObject([
      { attemptNo: 1, outcome: 'retryable', statusCode: null, error: 'interrupted', finishedAt: harness.now },
    ]);
    expect(await harness.delivery(delivery.id)).toMatchObject({
      status: 'retry_scheduled',
      attemptCount: 1,
      dueAt: harness.now + 10_000,
      error: 'interrupted',
    });
    expect(hinted).toMatchObject([{ id: delivery.id, dueAt: harness.now + 10_000 }]);
  });

  test('is dead-lettered when it was the last its policy allows', async () => {
    await using harness = await EngineHarness.open();
    const { delivery } = await claimed(harness, { retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts: 1 } });
    const { recovery: lost, hinted } = recovery(harness);
    expect(await lost.run(true)).toBe(1);
    expect((await harness.delivery(delivery.id)).status).toBe('dead_letter');
    expect(hinted).toEqual([null]);
  });

  test('is canceled when its schedule was canceled meanwhile', async () => {
    await using harness = await EngineHarness.open();
    const { delivery } = await claimed(harness);
    await harness.change(delivery.scheduleId, (view) => life.cancel(view, harness.now));
    await recovery(harness).recovery.run(true);
    expect((await harness.delivery(delivery.id)).status).toBe('canceled');
  });

  test('of a recurring schedule leaves the next occurrence as it is', async () => {
    await using harness = await EngineHarness.open();
    const { delivery, advanced } = await claimed(harness, { timing: HOURLY });
    await recovery(harness).recovery.run(true);
    expect((await harness.delivery(delivery.id)).status).toBe('retry_scheduled');
    expect(advanced && (await harness.delivery(advanced.next.id))).toEqual(advanced?.next);
  });

  test('is closed once: there is nothing left for a second run', async () => {
    await using harness = await EngineHarness.open();
    await claimed(harness);
    await claimed(harness);
    const { recovery: lost } = recovery(harness);
    expect([await lost.run(true), await lost.run(true)]).toEqual([2, 0]);
    expect(harness.log.lines).toMatchObject([{ level: 'warn', fields: { claims: 2 } }]);
  });
});

describe('an attempt of our own', () => {
  test('that is under way is not touched; one that nobody works on is closed', async () => {
    await using harness = await EngineHarness.open();
    const working = await claimed(harness, {}, harness.node);
    const lost = await claimed(harness, {}, harness.node);
    expect(await recovery(harness, [working.attempt.id]).recovery.run(true)).toBe(1);
    expect(await harness.delivery(working.delivery.id)).toEqual(working.delivery);
    expect(await harness.attempts(working.delivery.id)).toEqual([working.attempt]);
    expect((await harness.delivery(lost.delivery.id)).status).toBe('retry_scheduled');
  });
});

describe('a store that is away', () => {
  test('is not waited for when it cannot be asked, and nothing has changed', async () => {
    await using harness = await EngineHarness.open();
    const { delivery } = await claimed(harness);
    harness.faults.set('refuses', 'listLostClaims');
    await expect(recovery(harness).recovery.run(true)).rejects.toThrow('The store is away.');
    expect((await harness.delivery(delivery.id)).status).toBe('claimed');
  });

  test('is waited for when it cannot write', async () => {
    await using harness = await EngineHarness.open();
    const { delivery } = await claimed(harness);
    harness.faults.set('refuses', 'settle');
    const running = recovery(harness).recovery.run(true);
    await harness.time.advance(10_000);
    harness.faults.clear();
    await harness.time.advance(500);
    expect(await running).toBe(1);
    expect((await harness.delivery(delivery.id)).status).toBe('retry_scheduled');
  });
});
