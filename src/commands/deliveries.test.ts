import { describe, expect, test } from 'vitest';
import { DELIVERY_STATUSES, type Delivery } from '#src/domain/delivery.ts';
import { isReplayable } from '#src/domain/delivery-lifecycle.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { type ControlHarness, openControlHarness } from '#test/process/control-harness.ts';
import { Builders } from '#test/store-contract/builders.ts';
import { ALL_DELIVERIES } from '#test/store-contract/everything.ts';
import { type Commands, IdempotencyKeyTaken, KeyedMutex, type MakeReceipt } from './command.ts';
import { replayDelivery } from './deliveries.ts';

const PARTITION = 1 as Partition;
const NO_RECEIPT: MakeReceipt = () => null;

function commandsOf({
  store,
  clock,
  ids,
  vault,
}: ControlHarness): Commands & { readonly hinted: readonly Instant[] } {
  const hinted: Instant[] = [];
  const hints = {
    due: (due: DueDelivery | null) => hinted.push(...(due === null ? [] : [due.dueAt])),
    rescan: () => {},
  };
  return { store, clock, ids, vault, hinted, hints, mutex: new KeyedMutex(), pause: async () => {} };
}

function render(delivery: Delivery) {
  return { status: 201, body: JSON.stringify(delivery) };
}

async function given(harness: ControlHarness, status: Delivery['status']): Promise<Delivery> {
  const builders = new Builders(PARTITION, harness.ids);
  const made = builders.schedule({ ttl: '1h' });
  const pending = { ...made.pending, status, claim: builders.claimIn(status) };
  const addition = { schedule: made.schedule, pending, payload: null, profile: null, receipt: null };
  expect(await harness.store.addSchedule(addition)).toBe('done');
  return pending;
}

function stored(harness: ControlHarness): Promise<readonly Delivery[]> {
  return harness.store.listDeliveries(PARTITION, ALL_DELIVERIES, { before: null, limit: 9 });
}

describe('replaying', () => {
  test.for(DELIVERY_STATUSES.filter(isReplayable))(
    'a %s delivery creates a new one that is due now',
    async (status) => {
      await using harness = await openControlHarness();
      const original = await given(harness, status);
      const commands = commandsOf(harness);
      const now = harness.advance(5_000);
      const { body } = await replayDelivery(commands, PARTITION, original.id, render, NO_RECEIPT);
      const replayed = JSON.parse(body) as Delivery;
      expect(await stored(harness)).toEqual([replayed, original]);
      expect(replayed).toMatchObject({
        status: 'scheduled',
        replayOf: original.id,
        dueAt: now,
        createdAt: now,
      });
      expect(commands.hinted).toEqual([now]);
    },
  );

  test.for(DELIVERY_STATUSES.filter((status) => !isReplayable(status)))(
    'a %s delivery is refused',
    async (status) => {
      await using harness = await openControlHarness();
      const original = await given(harness, status);
      const answer = replayDelivery(commandsOf(harness), PARTITION, original.id, render, NO_RECEIPT);
      await expect(answer).rejects.toMatchObject({ code: 'not_replayable', param: null });
      expect(await stored(harness)).toEqual([original]);
    },
  );

  test('a delivery of another partition is not found', async () => {
    await using harness = await openControlHarness();
    const { id } = await given(harness, 'succeeded');
    const answer = replayDelivery(commandsOf(harness), 2 as Partition, id, render, NO_RECEIPT);
    await expect(answer).rejects.toMatchObject({ code: 'not_found' });
  });

  test('with a taken idempotency key creates no delivery', async () => {
    await using harness = await openControlHarness();
    const { id } = await given(harness, 'succeeded');
    const keep: MakeReceipt = ({ status, body }, now) => {
      const expiresAt = instant(now + 1_000);
      return { key: 'key', fingerprint: 'same', status, body, createdAt: now, expiresAt };
    };
    const commands = commandsOf(harness);
    await replayDelivery(commands, PARTITION, id, render, keep);
    await expect(replayDelivery(commands, PARTITION, id, render, keep)).rejects.toThrow(IdempotencyKeyTaken);
    expect(await stored(harness)).toHaveLength(2);
    expect(commands.hinted).toHaveLength(1);
  });
});
