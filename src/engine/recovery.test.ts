import { describe, expect, test } from 'vitest';
import type { Due } from '#src/domain/due.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import * as life from '#src/domain/schedule-life.ts';
import type { ClaimWrite } from '#src/ports/store.ts';
import { HOURLY } from '#src/store/contract/builders.ts';
import { EngineTestWorld, type Order } from '#test/engine-world.ts';
import { Recovery } from './recovery.ts';
import { Settler } from './settler.ts';
import { Tallies } from './tallies.ts';
import { EVERYWHERE } from './territory.ts';

async function claimed(world: EngineTestWorld, order: Order = {}, node = 'dead-node'): Promise<ClaimWrite> {
  const view = await world.schedule(order);
  const { build } = world;
  const by = { node, token: build.ids.mint('att', world.now) };
  const ids = { attempt: by.token, delivery: build.ids.mint('dlv', world.now) };
  const write = life.claim(view.pending, view, by, ids, world.now);
  expect(await world.disk.claim([write])).toEqual(['done']);
  return write;
}

function recovery(world: EngineTestWorld, underWay: readonly string[] = []) {
  const hinted: (Due | null)[] = [];
  const hints = { due: (due: Due | null) => void hinted.push(due), lookAgain: () => {} };
  const settler = new Settler(world);
  return {
    hinted,
    settler,
    recovery: new Recovery(world, {
      territory: EVERYWHERE,
      settler,
      tallies: new Tallies(world),
      hints,
      living: null,
      isUnderWay: (token) => underWay.includes(token),
    }),
  };
}

describe('an attempt of a process that died', () => {
  test('is closed as interrupted, counts as an attempt, and goes on by its retry policy', async () => {
    await using world = await EngineTestWorld.open();
    const { delivery } = await claimed(world);
    await world.time.advance(60_000);
    const { recovery: lost, hinted } = recovery(world);
    expect(await lost.run(true)).toBe(1);
    expect(await world.attempts(delivery.id)).toMatchObject([
      { attemptNo: 1, outcome: 'retryable', statusCode: null, error: 'interrupted', finishedAt: world.now },
    ]);
    expect(await world.delivery(delivery.id)).toMatchObject({
      status: 'retry_scheduled',
      attemptCount: 1,
      dueAt: world.now + 10_000,
      error: 'interrupted',
    });
    expect(hinted).toMatchObject([{ id: delivery.id, dueAt: world.now + 10_000 }]);
  });

  test('is dead-lettered when it was the last its policy allows', async () => {
    await using world = await EngineTestWorld.open();
    const { delivery } = await claimed(world, { retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts: 1 } });
    const { recovery: lost, hinted } = recovery(world);
    expect(await lost.run(true)).toBe(1);
    expect((await world.delivery(delivery.id)).status).toBe('dead_letter');
    expect(hinted).toEqual([null]);
  });

  test('is canceled when its schedule was canceled meanwhile', async () => {
    await using world = await EngineTestWorld.open();
    const { delivery } = await claimed(world);
    await world.change(delivery.scheduleId, (view) => life.cancel(view, world.now));
    await recovery(world).recovery.run(true);
    expect((await world.delivery(delivery.id)).status).toBe('canceled');
  });

  test('of a recurring schedule leaves the next occurrence as it is', async () => {
    await using world = await EngineTestWorld.open();
    const { delivery, advanced } = await claimed(world, { timing: HOURLY });
    await recovery(world).recovery.run(true);
    expect((await world.delivery(delivery.id)).status).toBe('retry_scheduled');
    expect(advanced && (await world.delivery(advanced.next.id))).toEqual(advanced?.next);
  });

  test('is closed once: there is nothing left for a second run', async () => {
    await using world = await EngineTestWorld.open();
    await claimed(world);
    await claimed(world);
    const { recovery: lost } = recovery(world);
    expect([await lost.run(true), await lost.run(true)]).toEqual([2, 0]);
    expect(world.log.lines).toMatchObject([{ level: 'warn', fields: { claims: 2 } }]);
  });
});

describe('an attempt of our own', () => {
  test('that is under way is not touched; one that nobody works on is closed', async () => {
    await using world = await EngineTestWorld.open();
    const working = await claimed(world, {}, world.node);
    const lost = await claimed(world, {}, world.node);
    expect(await recovery(world, [working.attempt.id]).recovery.run(true)).toBe(1);
    expect(await world.delivery(working.delivery.id)).toEqual(working.delivery);
    expect(await world.attempts(working.delivery.id)).toEqual([working.attempt]);
    expect((await world.delivery(lost.delivery.id)).status).toBe('retry_scheduled');
  });
});

describe('a store that is away', () => {
  test('is not waited for when it cannot be asked, and nothing has changed', async () => {
    await using world = await EngineTestWorld.open();
    const { delivery } = await claimed(world);
    world.faults.set('refuses', 'listLostClaims');
    await expect(recovery(world).recovery.run(true)).rejects.toThrow('The store is away.');
    expect((await world.delivery(delivery.id)).status).toBe('claimed');
  });

  test('is waited for when it cannot write', async () => {
    await using world = await EngineTestWorld.open();
    const { delivery } = await claimed(world);
    world.faults.set('refuses', 'settle');
    const running = recovery(world).recovery.run(true);
    await world.time.advance(10_000);
    world.faults.clear();
    await world.time.advance(500);
    expect(await running).toBe(1);
    expect((await world.delivery(delivery.id)).status).toBe('retry_scheduled');
  });
});
