/** The timing that is stored with an attempt. */
import { expect, test } from 'vitest';
import type { AttemptTiming } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { Engine } from '#src/engine/engine.ts';
import { pause } from '#src/ports/system.ts';
import { EngineHarness, OK, type Sent } from '#test/engine-harness.ts';

/** An attempt whose request hangs; its claim took this long to be stored. */
async function attemptInFlight(harness: EngineHarness, claimMs = 0): Promise<{ id: DeliveryId; sent: Sent }> {
  harness.egress.respond = () => null;
  const { pending } = await harness.schedule();
  if (claimMs > 0) harness.faults.before('claim', () => pause(harness.timers, claimMs));
  await new Engine(harness, { retentionMs: 0 }).start();
  await harness.time.advance(5_000 + claimMs);
  const [sent] = harness.egress.sent;
  if (sent === undefined) throw new Error('Nothing was sent.');
  return { id: pending.id, sent };
}

async function timingOf(harness: EngineHarness, id: DeliveryId): Promise<AttemptTiming | null | undefined> {
  return (await harness.attempts(id))[0]?.timing;
}

test('the timing counts from the decision: claim stored, connected, answered', async () => {
  await using harness = await EngineHarness.open();
  const { id, sent } = await attemptInFlight(harness, 3);
  expect(await timingOf(harness, id)).toBeNull();
  await harness.time.advance(11);
  sent.connect(false);
  await harness.time.advance(40);
  sent.answer(OK);
  await harness.time.settled();
  expect(await timingOf(harness, id)).toEqual({
    claimedMs: 3,
    connectedMs: 14,
    firstByteMs: 54,
    wasConnected: false,
  });
  expect(await harness.attempts(id)).toMatchObject([{ egressMs: 54 }]);
});

test('an attempt that timed out keeps the steps that it reached', async () => {
  await using harness = await EngineHarness.open();
  const { id, sent } = await attemptInFlight(harness);
  sent.connect(true);
  await harness.time.advance(30_000);
  expect(await timingOf(harness, id)).toEqual({
    claimedMs: 0,
    connectedMs: 0,
    firstByteMs: null,
    wasConnected: true,
  });
});

test('an attempt without a connection keeps only the time of its claim', async () => {
  await using harness = await EngineHarness.open();
  const { id, sent } = await attemptInFlight(harness);
  sent.answer({ kind: 'failed', failure: 'name_unresolved' });
  await harness.time.settled();
  expect(await timingOf(harness, id)).toMatchObject({ claimedMs: 0, connectedMs: null, firstByteMs: null });
});

test('an attempt that was never sent has no timing', async () => {
  await using harness = await EngineHarness.open();
  const { pending } = await harness.schedule({ payload: { headers: [['X-Bad', 'a\nb']] } });
  await new Engine(harness, { retentionMs: 0 }).start();
  await harness.time.advance(5_000);
  expect(harness.egress.sent).toEqual([]);
  expect(await harness.attempts(pending.id)).toMatchObject([{ outcome: 'terminal', timing: null }]);
});

test('no step is negative when the clock is set back', async () => {
  await using harness = await EngineHarness.open();
  const { id, sent } = await attemptInFlight(harness);
  harness.time.setClock(-60_000);
  sent.connect(false);
  sent.answer(OK);
  await harness.time.settled();
  expect(await timingOf(harness, id)).toMatchObject({ claimedMs: 0, connectedMs: 0, firstByteMs: 0 });
});
