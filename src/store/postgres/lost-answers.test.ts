/** A way to the database that fails: whatever was asked for is stored once or not at all, and the caller knows which. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as life from '#src/domain/schedule-life.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { type Opened, Suite } from '#src/store/contract/bench.ts';
import { HOURLY, SUCCESS } from '#src/store/contract/builders.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { type PostgresProxy, startProxy, type Verdict } from '#test/postgres/proxy.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';

let proxy: PostgresProxy;
const suite = new Suite(async (): Promise<Opened> => {
  const server = await sharedPostgres();
  const database = await createDatabase(server);
  return openedIn({ ...database, url: proxy.through(database.url) });
});

beforeAll(async () => {
  proxy = await startProxy(Number(new URL(await sharedPostgres()).port));
  await suite.start();
});
afterAll(async () => {
  proxy.interfere(() => 'pass');
  await suite.stop();
  await proxy[Symbol.asyncDispose]();
});
beforeEach(() => proxy.interfere(() => 'pass'));

/** What every transaction has in it; those in which all holds are one batch, and end with it. */
const TRANSACTION = /INTO writers/;

/** Interferes with the next statements of this kind, so many of them. */
function next(sql: RegExp, verdict: Verdict, times = 1): void {
  let left = times;
  proxy.interfere((asked) => {
    if (left === 0 || !sql.test(asked)) return 'pass';
    left--;
    return verdict;
  });
}

describe.for(['lose the answer', 'lose it'] as const)('a commit: %s', (verdict) => {
  test('a create is stored once', async () => {
    const bench = await suite.bench();
    const before = proxy.lost;
    next(TRANSACTION, verdict);
    const receipt = bench.receipt();
    const made = bench.schedule();
    const addition = { ...made, payload: Uint8Array.of(1), profile: null, receipt };
    expect(await bench.store.addSchedule(addition)).toBe('done');
    expect(proxy.lost).toBe(before + 1);
    const { schedule } = await bench.view(made.schedule.id);
    expect(schedule).toEqual(made.schedule);
    const again = bench.schedule();
    const second = { ...again, payload: null, profile: null, receipt };
    expect(await bench.store.addSchedule(second)).toBe('key_taken');
  });

  test('a claim of a recurring delivery materializes the next one once', async () => {
    const bench = await suite.bench();
    const view = await bench.addSchedule({ timing: HOURLY });
    next(TRANSACTION, verdict);
    const claimed = await bench.take(view);
    const after = await bench.view(view.schedule.id);
    expect(after.pending).toEqual(claimed.advanced?.next);
    expect(after.schedule).toEqual(claimed.advanced?.schedule);
    expect(await bench.store.listAttempts(bench.partition, claimed.delivery.id, 0, 10)).toHaveLength(1);
  });

  test('a settling is done once, and what was decided on the same row is stale', async () => {
    const bench = await suite.bench();
    const view = await bench.addSchedule();
    const claimed = await bench.take(view);
    const settled = bench.settle(claimed, view.schedule, SUCCESS);
    next(TRANSACTION, verdict);
    expect(await bench.store.settle([settled])).toEqual(['done']);
    expect(await bench.store.settle([settled])).toEqual(['stale']);
    expect(await bench.delivery(claimed.delivery.id)).toEqual(settled.delivery);
  });

  test('of a batch, those that do not hold are told apart', async () => {
    const bench = await suite.bench();
    const views = await Promise.all(Array.from({ length: 8 }, () => bench.addSchedule()));
    const [taken] = views;
    if (taken === undefined) throw new Error('There are eight.');
    await bench.take(taken);
    next(/^COMMIT/, verdict);
    const claims = views.map((view) => bench.claim(view.pending ?? neverNull(), view));
    expect(await bench.store.claim(claims)).toEqual(['stale', ...Array(7).fill('done')]);
    const [{ deliveries, attempts }] = await bench.everything();
    expect(deliveries.filter(({ status }) => status === 'claimed')).toHaveLength(8);
    expect(attempts).toHaveLength(8);
  });

  test('also when looking it up fails', async () => {
    const bench = await suite.bench();
    next(/INTO writers|FOR UPDATE/, verdict, 3);
    const made = bench.schedule();
    const addition = { ...made, payload: null, profile: null, receipt: null };
    expect(await bench.store.addSchedule(addition)).toBe('done');
    expect((await bench.view(made.schedule.id)).schedule.revision).toBe(1);
  });
});

test('a create whose statements never arrive is made on the next connection', async () => {
  const bench = await suite.bench();
  next(/^INSERT INTO schedules/, 'lose it');
  const made = bench.schedule();
  expect(await bench.store.addSchedule({ ...made, payload: null, profile: null, receipt: null })).toBe(
    'done',
  );
});

describe('a database that is away', () => {
  test('refuses at once, and everything resumes by itself', async () => {
    const bench = await suite.bench();
    const view = await bench.addSchedule();
    proxy.refuse();
    proxy.cut();
    await expect.poll(() => readFails(bench)).toBe(true);
    const changed = life.pause(view, bench.now);
    if (changed === null) throw new Error('It can be paused.');
    await expect(bench.store.check(bench.now)).rejects.toThrow(StoreUnavailable);
    await expect(bench.store.replaceSchedule({ ...changed, receipt: null })).rejects.toThrow(
      StoreUnavailable,
    );
    await expect(bench.store.readClock()).rejects.toThrow(StoreUnavailable);
    await proxy.accept();
    await expect.poll(() => readFails(bench), { timeout: 5_000 }).toBe(false);
    await expect
      .poll(
        () =>
          bench.store.check(bench.now).then(
            () => true,
            () => false,
          ),
        { timeout: 5_000 },
      )
      .toBe(true);
    expect(await bench.store.replaceSchedule({ ...changed, receipt: null })).toBe('done');
  });
});

async function readFails(bench: Awaited<ReturnType<Suite['bench']>>): Promise<boolean> {
  try {
    await bench.store.listProjects();
    return false;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return true;
  }
}

function neverNull(): never {
  throw new Error('A schedule that was added has a pending delivery.');
}
