/** The multiplied and moved rows of hostile customers are such as the service could have written. */
import { describe, expect, test } from 'vitest';
import { INTERRUPTED } from '#src/domain/failures.ts';
import { instant } from '#src/domain/instant.ts';
import { openSqlite } from '#src/store/sqlite/open-sqlite.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { DAY_MS, FAILURE, HOUR_MS, HOURLY, START, SUCCESS } from '#test/store-contract/builders.ts';
import { type Fixture, type Opened, pendingOf, Suite } from '#test/store-contract/fixture.ts';
import { interruptedIn, partitionOf, shiftDueInstants, waitingIn } from '../../bench/neighbour/sql.ts';
import type { SchedStore } from '../../bench/sched/service.ts';
import { multiply } from '../../bench/stored/filled-stores.ts';

const TEMPLATES = 3;
const COPIES = 40;
const LIST_MAX = 1_000;

type Change = (store: SchedStore) => Promise<void>;

/** A store that can be changed by others while nobody has it open. */
interface Place extends AsyncDisposable {
  readonly suite: Suite;
  whileClosed(change: Change): Promise<void>;
}

async function openPlace(kind: SchedStore['kind']): Promise<Place> {
  let next: Change = () => Promise.resolve();
  const between = (): Promise<void> => next(store);
  const { store, opened }: Made = await (kind === 'sqlite' ? onSqlite(between) : onPostgres(between));
  const suite = new Suite(() => Promise.resolve(opened));
  await suite.start();
  return {
    suite,
    whileClosed: async (change) => {
      next = change;
      await suite.reopen();
    },
    [Symbol.asyncDispose]: () => suite.stop(),
  };
}

interface Made {
  readonly store: SchedStore;
  readonly opened: Opened;
}

/** `between` is called whenever the store is closed to be opened again. */
async function onSqlite(between: () => Promise<void>): Promise<Made> {
  const directory = temporaryDirectory();
  const open = () => openSqlite({ directory, now: START, exclusive: true });
  let store = await open();
  const opened: Opened = {
    store,
    reopen: async () => {
      await store.close();
      await between();
      store = await open();
      return store;
    },
    close: () => store.close(),
  };
  return { store: { kind: 'sqlite', directory }, opened };
}

async function onPostgres(between: () => Promise<void>): Promise<Made> {
  const database = await createDatabase(await sharedPostgres());
  const opened = await openedIn(database);
  const reopen = async () => {
    await between();
    return opened.reopen();
  };
  return { store: { kind: 'postgres', url: database.url }, opened: { ...opened, reopen } };
}

async function addTemplates(bench: Fixture): Promise<void> {
  for (let n = 0; n < TEMPLATES; n++) await bench.addSchedule();
}

describe.for(['sqlite', 'postgres'] as const)('on %s', (kind) => {
  test('one customer is multiplied for one instant and moved to another, and other customers keep theirs', async () => {
    await using place = await openPlace(kind);
    const [bench, other] = [await place.suite.fixture(), await place.suite.fixture()];
    await addTemplates(bench);
    await addTemplates(other);
    const before = await other.everything();
    const { partition } = bench;
    await place.whileClosed(async (store) => {
      expect(await partitionOf(store, bench.project.name)).toBe(partition);
      await multiply(store, { kind: 'together', copies: COPIES, partition });
      await shiftDueInstants(store, partition, DAY_MS - HOUR_MS);
    });

    expect(await other.everything()).toEqual(before);
    const [{ schedules, deliveries }] = await bench.everything();
    expect([schedules.length, deliveries.length]).toEqual([TEMPLATES * COPIES, TEMPLATES * COPIES]);
    const at = instant(START + DAY_MS);
    for (const { schedule, pending } of schedules) {
      expect(schedule.timing).toMatchObject({ kind: 'one_shot', fireAt: at });
      expect(pending).toMatchObject({ occurrence: at, scheduledFor: at, dueAt: at, status: 'scheduled' });
    }
    const due = await bench.store.listDue(null, at, LIST_MAX);
    expect(due.filter((one) => one.partition === partition)).toHaveLength(TEMPLATES * COPIES);
  });

  test('deliveries that wait for a retry are multiplied with their attempts', async () => {
    await using place = await openPlace(kind);
    const bench = await place.suite.fixture();
    const { schedule, pending } = await bench.addSchedule({ timing: HOURLY });
    bench.tick(HOUR_MS);
    const original = await bench.fire(pendingOf({ schedule, pending, profile: null }), SUCCESS);
    const replays = [];
    for (let n = 0; n < TEMPLATES; n++) {
      replays.push(await bench.fire(await bench.addReplay(original), FAILURE));
    }
    const [first] = replays;
    const { partition } = bench;
    await place.whileClosed((store) => multiply(store, { kind: 'retries', copies: COPIES, partition }));

    const [{ schedules, deliveries, attempts }] = await bench.everything();
    expect(schedules).toHaveLength(1);
    const waiting = deliveries.filter(({ status }) => status === 'retry_scheduled');
    expect(waiting).toHaveLength(TEMPLATES * COPIES);
    // The one that succeeded, and the next occurrence.
    expect(deliveries).toHaveLength(waiting.length + 2);
    const { id: _, ...shared } = first ?? expect.fail('there is no replay');
    for (const delivery of waiting) expect(delivery).toMatchObject(shared);
    expect(new Set(attempts.map(({ id }) => id)).size).toBe(waiting.length + 1);
    for (const { id } of waiting) {
      expect(attempts.filter(({ deliveryId }) => deliveryId === id)).toHaveLength(1);
    }
  });

  test('interrupted attempts and waiting deliveries are counted, and no others', async () => {
    await using place = await openPlace(kind);
    const bench = await place.suite.fixture();
    for (const result of [INTERRUPTED, FAILURE, INTERRUPTED]) {
      await bench.fire(pendingOf(await bench.addSchedule()), result);
    }
    await bench.fire(pendingOf(await bench.addSchedule()), SUCCESS);
    await place.whileClosed(async (store) => {
      expect(await interruptedIn(store)).toBe(2);
      expect(await waitingIn(store, bench.partition)).toBe(3);
    });
  });
});
