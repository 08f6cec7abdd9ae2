/** On a connection that fails, a write is stored once or not at all, and the caller knows which. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { type PostgresProxy, startProxy, type Verdict } from '#test/postgres/proxy.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { HOURLY, SUCCESS } from '#test/store-contract/builders.ts';
import { type Opened, Suite } from '#test/store-contract/fixture.ts';

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

/** Every transaction contains this statement. */
const TRANSACTION = /INTO writers/;

/** Interferes with the next `times` statements that match. */
function next(sql: RegExp, verdict: Verdict, times = 1): void {
  let left = times;
  proxy.interfere((text) => {
    if (left === 0 || !sql.test(text)) return 'pass';
    left--;
    return verdict;
  });
}

describe.for(['lose the answer', 'lose it'] as const)('a commit: %s', (verdict) => {
  test('a create is stored once', async () => {
    const fixture = await suite.fixture();
    const before = proxy.lost;
    next(TRANSACTION, verdict);
    const receipt = fixture.receipt();
    const made = fixture.schedule();
    const addition = { ...made, payload: Uint8Array.of(1), profile: null, receipt };
    expect(await fixture.store.addSchedule(addition)).toBe('done');
    expect(proxy.lost).toBe(before + 1);
    const { schedule } = await fixture.view(made.schedule.id);
    expect(schedule).toEqual(made.schedule);
    const again = fixture.schedule();
    const second = { ...again, payload: null, profile: null, receipt };
    expect(await fixture.store.addSchedule(second)).toBe('key_taken');
  });

  test('a claim of a recurring delivery materializes the next one once', async () => {
    const fixture = await suite.fixture();
    const view = await fixture.addSchedule({ timing: HOURLY });
    next(TRANSACTION, verdict);
    const claimed = await fixture.addClaim(view);
    const after = await fixture.view(view.schedule.id);
    expect(after.pending).toEqual(claimed.advanced?.next);
    expect(after.schedule).toEqual(claimed.advanced?.schedule);
    expect(await fixture.store.listAttempts(fixture.partition, claimed.delivery.id, 0, 10)).toHaveLength(1);
  });

  test('a settlement is stored once, and another decision about the same row is stale', async () => {
    const fixture = await suite.fixture();
    const view = await fixture.addSchedule();
    const claimed = await fixture.addClaim(view);
    const settled = fixture.settle(claimed, view.schedule, SUCCESS);
    next(TRANSACTION, verdict);
    expect(await fixture.store.settle([settled])).toEqual(['done']);
    expect(await fixture.store.settle([settled])).toEqual(['stale']);
    expect(await fixture.delivery(claimed.delivery.id)).toEqual(settled.delivery);
  });

  test('in a batch, the verbs that do not hold are identified', async () => {
    const fixture = await suite.fixture();
    const views = await Promise.all(Array.from({ length: 8 }, () => fixture.addSchedule()));
    const [taken] = views;
    if (taken === undefined) throw new Error('There are fewer than eight claims.');
    await fixture.addClaim(taken);
    next(/^COMMIT/, verdict);
    const claims = views.map((view) => fixture.claim(view.pending ?? neverNull(), view));
    expect(await fixture.store.claim(claims)).toEqual(['stale', ...Array(7).fill('done')]);
    const [{ deliveries, attempts }] = await fixture.everything();
    expect(deliveries.filter(({ status }) => status === 'claimed')).toHaveLength(8);
    expect(attempts).toHaveLength(8);
  });

  test('is also found out when the look-up fails at first', async () => {
    const fixture = await suite.fixture();
    next(/INTO writers|FOR UPDATE/, verdict, 3);
    const made = fixture.schedule();
    const addition = { ...made, payload: null, profile: null, receipt: null };
    expect(await fixture.store.addSchedule(addition)).toBe('done');
    expect((await fixture.view(made.schedule.id)).schedule.revision).toBe(1);
  });
});

test('a create whose statements never arrive is stored on the next connection', async () => {
  const fixture = await suite.fixture();
  next(/^INSERT INTO schedules/, 'lose it');
  const made = fixture.schedule();
  expect(await fixture.store.addSchedule({ ...made, payload: null, profile: null, receipt: null })).toBe(
    'done',
  );
});

describe('a database that is not reachable', () => {
  test('fails writes at once, and everything resumes by itself', async () => {
    const fixture = await suite.fixture();
    const view = await fixture.addSchedule();
    proxy.refuse();
    proxy.cut();
    await expect.poll(() => readFails(fixture)).toBe(true);
    const changed = life.pause(view, fixture.now);
    if (changed === null) throw new Error('The schedule cannot be paused.');
    await expect(fixture.store.check(fixture.now)).rejects.toThrow(StoreUnavailable);
    await expect(fixture.store.replaceSchedule({ ...changed, receipt: null })).rejects.toThrow(
      StoreUnavailable,
    );
    await expect(fixture.store.readClock()).rejects.toThrow(StoreUnavailable);
    await proxy.accept();
    await expect.poll(() => readFails(fixture), { timeout: 5_000 }).toBe(false);
    await expect
      .poll(
        () =>
          fixture.store.check(fixture.now).then(
            () => true,
            () => false,
          ),
        { timeout: 5_000 },
      )
      .toBe(true);
    expect(await fixture.store.replaceSchedule({ ...changed, receipt: null })).toBe('done');
  });
});

async function readFails(fixture: Awaited<ReturnType<Suite['fixture']>>): Promise<boolean> {
  try {
    await fixture.store.listProjects();
    return false;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return true;
  }
}

function neverNull(): never {
  throw new Error('The added schedule has no pending delivery.');
}
