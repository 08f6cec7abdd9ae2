import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { type OpenWriter, Writer } from '#src/store/sqlite/writer.ts';
import { EngineHarness, OTHER_PARTITION, PARTITION } from '#test/engine-harness.ts';
import { HOURLY, SUCCESS } from '#test/store-contract/builders.ts';
import { ALL_DELIVERIES } from '#test/store-contract/everything.ts';
import { type Commands, KeyedMutex } from './command.ts';
import { applyScheduleAction, editSchedule, type ScheduleAction } from './schedules.ts';

const RETRIES = 9;
const RETRY_IN_MS = 20_000;

function commandsOf(harness: EngineHarness): Commands & { readonly rescans: () => number } {
  const { store, clock, ids, vault } = harness;
  let rescans = 0;
  const hints = { due: () => {}, rescan: () => void rescans++ };
  return {
    store,
    clock,
    ids,
    vault,
    hints,
    mutex: new KeyedMutex(),
    pause: async () => {},
    rescans: () => rescans,
  };
}

function render() {
  return { status: 200, body: '{}' };
}

function order(commands: Commands, id: ScheduleId, what: ScheduleAction, partition = PARTITION) {
  return applyScheduleAction(commands, partition, id, what, render);
}

/** A recurring schedule whose deliveries wait for a retry. */
async function withRetries(harness: EngineHarness, partition = PARTITION): Promise<ScheduleId> {
  const view = await harness.schedule({ timing: HOURLY, partition });
  const claimed = harness.build.claim(view.pending, view);
  expect(await harness.disk.claim([claimed])).toEqual(['done']);
  const { schedule } = claimed.advanced ?? view;
  await harness.disk.settle([harness.build.settle(claimed, schedule, SUCCESS)]);
  for (let each = 0; each < RETRIES; each++) {
    const replay = harness.build.replay(claimed.delivery);
    const dueAt = instant(harness.now + RETRY_IN_MS);
    const delivery: Delivery = { ...replay, status: 'retry_scheduled', attemptCount: 1, dueAt };
    await harness.disk.addReplay({ delivery, receipt: null });
  }
  return schedule.id;
}

/** A writer that records whose pieces it gets. */
class WatchedWriter {
  readonly pieces: Partition[] = [];
  mostAtOnce = 0;
  #inFlight = 0;

  readonly open: OpenWriter = async (data) => {
    const writer = await Writer.open(data);
    return {
      isFailing: false,
      run: async (steps) => {
        const piece = steps.find(([name]) => name === 'sweepDeliveries');
        if (piece === undefined) return writer.run(steps);
        this.pieces.push(piece[2] as Partition);
        this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#inFlight);
        try {
          return await writer.run(steps);
        } finally {
          this.#inFlight--;
        }
      },
      runAll: (verbs) => writer.runAll(verbs),
      close: () => writer.close(),
    };
  };
}

/** The number of deliveries by status. */
async function statuses(
  harness: EngineHarness,
  partition = PARTITION,
): Promise<Readonly<Record<string, number>>> {
  const page = { before: null, limit: 1_000 };
  const deliveries = await harness.disk.listDeliveries(partition, ALL_DELIVERIES, page);
  const grouped = Map.groupBy(deliveries, ({ status }) => status);
  return Object.fromEntries([...grouped].map(([status, { length }]) => [status, length]));
}

describe('an action on a schedule with more deliveries than one step may change', () => {
  test('is answered when it has changed all of them, in pieces', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 2 });
    const id = await withRetries(harness);
    const commands = commandsOf(harness);
    await order(commands, id, 'pause');
    expect(await statuses(harness)).toEqual({ succeeded: 1, paused: RETRIES + 1 });
    // The action itself changes two, and the pieces change the others. The last piece finds no more.
    expect(harness.faults.times('continueSweep')).toBe(5);
    await order(commands, id, 'resume');
    expect(await statuses(harness)).toEqual({ succeeded: 1, scheduled: 1, retry_scheduled: RETRIES });
    // One rescan follows the action, and one follows the pieces.
    expect(commands.rescans()).toBe(2);
    await order(commands, id, 'cancel');
    expect(await statuses(harness)).toEqual({ succeeded: 1, canceled: RETRIES + 1 });
    expect(await harness.disk.listSweeps(10)).toEqual([]);
  });

  test('that could not be finished is finished when it is repeated', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 2 });
    const id = await withRetries(harness);
    const commands = commandsOf(harness);
    harness.faults.set('refuses', 'continueSweep');
    await expect(order(commands, id, 'cancel')).rejects.toThrow(StoreUnavailable);
    expect(await statuses(harness)).toMatchObject({ retry_scheduled: RETRIES - 2 });
    harness.faults.clear();
    await order(commands, id, 'cancel');
    expect(await statuses(harness)).toEqual({ succeeded: 1, canceled: RETRIES + 1 });
  });

  test('ends when a later action replaces it', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 2 });
    const id = await withRetries(harness);
    // This is another node, which does not share the mutex of this one.
    const elsewhere = commandsOf(harness);
    harness.faults.before('continueSweep', async () => {
      await harness.time.advance(1);
      await order(elsewhere, id, 'resume');
    });
    await order(commandsOf(harness), id, 'pause');
    expect((await harness.disk.findSchedule(PARTITION, id))?.schedule.state).toBe('active');
    expect(await statuses(harness)).toEqual({ succeeded: 1, scheduled: 1, retry_scheduled: RETRIES });
    expect(await harness.disk.listSweeps(10)).toEqual([]);
  });

  test('does not delay an edit from another node, and is not lost to it', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 2 });
    const id = await withRetries(harness);
    const elsewhere = commandsOf(harness);
    let left = 0;
    harness.faults.before('continueSweep', async () => {
      await editSchedule(
        elsewhere,
        PARTITION,
        id,
        () => ({ metadata: [['a', 'b']] }),
        render,
        () => null,
      );
      left = (await statuses(harness)).retry_scheduled ?? 0;
    });
    await order(commandsOf(harness), id, 'cancel');
    expect(left).toBe(RETRIES - 2);
    expect((await harness.disk.findSchedule(PARTITION, id))?.schedule.metadata).toEqual([['a', 'b']]);
    expect(await statuses(harness)).toEqual({ succeeded: 1, canceled: RETRIES + 1 });
  });
});

describe('many concurrent actions', () => {
  const ORDERS = 50;

  test('send one piece at a time to the writer, and do not delay another customer', async () => {
    const writer = new WatchedWriter();
    await using harness = await EngineHarness.open({ sweepBatchMax: 2, openWriter: writer.open });
    const ids: ScheduleId[] = [];
    for (let each = 0; each < ORDERS; each++) ids.push(await withRetries(harness));
    const other = await withRetries(harness, OTHER_PARTITION);
    const commands = commandsOf(harness);
    const answered: ScheduleId[] = [];
    const cancel = async (id: ScheduleId, partition: Partition) => {
      await order(commands, id, 'cancel', partition);
      answered.push(id);
    };
    await Promise.all([...ids.map((id) => cancel(id, PARTITION)), cancel(other, OTHER_PARTITION)]);

    expect(writer.mostAtOnce).toBe(1);
    // Each action changes two deliveries. Pieces of two change the other seven.
    expect(writer.pieces).toHaveLength((ORDERS + 1) * 4);
    expect(answered[0]).toBe(other);
    // At most two pieces of the first customer come between, since one was already in flight.
    const [first, last] = [
      writer.pieces.indexOf(OTHER_PARTITION),
      writer.pieces.lastIndexOf(OTHER_PARTITION),
    ];
    expect(last - first).toBeLessThanOrEqual(3 * 3);
    const each = RETRIES + 1;
    expect(await statuses(harness)).toEqual({ succeeded: ORDERS, canceled: ORDERS * each });
    expect(await statuses(harness, OTHER_PARTITION)).toEqual({ succeeded: 1, canceled: each });
  });
});
