/** What is kept of how an attempt went. */
import { expect, test } from 'vitest';
import type { AttemptTiming } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { EngineTestWorld, OK, type Sent } from '#test/engine-world.ts';
import { Engine } from './engine.ts';
import { pause } from './world.ts';

/** An attempt whose request hangs; its claim took this long to be stored. */
async function underWay(world: EngineTestWorld, claimMs = 0): Promise<{ id: DeliveryId; sent: Sent }> {
  world.egress.respond = () => null;
  const { pending } = await world.schedule();
  if (claimMs > 0) world.faults.before('claim', () => pause(world.timers, claimMs));
  await new Engine(world, { retentionMs: 0 }).start();
  await world.time.advance(5_000 + claimMs);
  const [sent] = world.egress.sent;
  if (sent === undefined) throw new Error('Nothing was sent.');
  return { id: pending.id, sent };
}

async function timingOf(world: EngineTestWorld, id: DeliveryId): Promise<AttemptTiming | null | undefined> {
  return (await world.attempts(id))[0]?.timing;
}

test('from the instant it was decided on: stored, connected, answered', async () => {
  await using world = await EngineTestWorld.open();
  const { id, sent } = await underWay(world, 3);
  expect(await timingOf(world, id)).toBeNull();
  await world.time.advance(11);
  sent.connect(false);
  await world.time.advance(40);
  sent.answer(OK);
  await world.time.settled();
  expect(await timingOf(world, id)).toEqual({
    claimedMs: 3,
    connectedMs: 14,
    firstByteMs: 54,
    wasConnected: false,
  });
  expect(await world.attempts(id)).toMatchObject([{ egressMs: 54 }]);
});

test('of one that timed out, how far it came', async () => {
  await using world = await EngineTestWorld.open();
  const { id, sent } = await underWay(world);
  sent.connect(true);
  await world.time.advance(30_000);
  expect(await timingOf(world, id)).toEqual({
    claimedMs: 0,
    connectedMs: 0,
    firstByteMs: null,
    wasConnected: true,
  });
});

test('of one that reached nobody, only that it was on its way', async () => {
  await using world = await EngineTestWorld.open();
  const { id, sent } = await underWay(world);
  sent.answer({ kind: 'unresolved', why: 'name does not resolve' });
  await world.time.settled();
  expect(await timingOf(world, id)).toMatchObject({ claimedMs: 0, connectedMs: null, firstByteMs: null });
});

test('of one that was never sent, nothing', async () => {
  await using world = await EngineTestWorld.open();
  const { pending } = await world.schedule({ payload: { headers: [['X-Bad', 'a\nb']] } });
  await new Engine(world, { retentionMs: 0 }).start();
  await world.time.advance(5_000);
  expect(world.egress.sent).toEqual([]);
  expect(await world.attempts(pending.id)).toMatchObject([{ outcome: 'terminal', timing: null }]);
});

test('a clock that is set back makes nothing happen before it began', async () => {
  await using world = await EngineTestWorld.open();
  const { id, sent } = await underWay(world);
  world.time.setClock(-60_000);
  sent.connect(false);
  sent.answer(OK);
  await world.time.settled();
  expect(await timingOf(world, id)).toMatchObject({ claimedMs: 0, connectedMs: 0, firstByteMs: 0 });
});
