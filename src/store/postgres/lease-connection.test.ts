/** The lease is renewed while everything else waits. */
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { ALL_SLOTS } from '#src/domain/slot.ts';
import { systemTimers } from '#src/system/timers.ts';
import { addressOf, openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase, execute, query, type TestDatabase } from '#test/postgres/databases.ts';
import { type PostgresProxy, startProxy } from '#test/postgres/proxy.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { START, scheduleIdOf } from '#test/store-contract/builders.ts';
import { ALL_SCHEDULES } from '#test/store-contract/everything.ts';
import { type Fixture, type Opened, Suite } from '#test/store-contract/fixture.ts';
import { Nodes } from '#test/store-contract/nodes.ts';
import { openPostgres } from './open-postgres.ts';

/** More than the engine has read connections. */
const AT_ONCE = 4;
const LARGE = new Uint8Array(100_000).fill(7);
const SMALL = Uint8Array.of(1, 2, 3);
const UNTIL = instant(START + 1_000_000_000);
const SOME_SLOTS = new Set(ALL_SLOTS.slice(0, 100));

let proxy: PostgresProxy;
let database: TestDatabase;
const suite = new Suite(async (): Promise<Opened> => {
  database = await createDatabase(await sharedPostgres());
  return openedIn({ ...database, url: proxy.through(database.url) });
});

beforeAll(async () => {
  proxy = await startProxy(Number(new URL(await sharedPostgres()).port));
  await suite.start();
});
afterEach(goOn);
afterAll(async () => {
  await suite.stop();
  await proxy[Symbol.asyncDispose]();
});

function goOn(): void {
  proxy.interfere(() => 'pass');
  proxy.resume();
}

async function addWith(fixture: Fixture, payload: Uint8Array) {
  const made = fixture.schedule();
  await fixture.store.addSchedule({ ...made, payload, profile: null, receipt: null });
  return made.pending;
}

/** Holds locks on a connection that bypasses the proxy, until the scope is left. */
async function holding(sql: string): Promise<AsyncDisposable> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('BEGIN');
  await client.query(sql);
  return { [Symbol.asyncDispose]: () => client.end() };
}

/** Renews twice: the first renewal may have been sent before the connection was blocked. */
async function expectAlive(fixture: Fixture): Promise<void> {
  const nodes = new Nodes(fixture.store);
  for (let round = 0; round < 2; round++) {
    const { nodes: living, slots } = await nodes.renew('alive');
    expect(living.map(({ node }) => node)).toContain('alive');
    expect(slots).toHaveLength(ALL_SLOTS.length);
    expect(await fixture.store.readClock()).toBeGreaterThan(START);
  }
}

describe('the lease is renewed and the clock is read', () => {
  test('while every other connection hangs', async () => {
    const fixture = await suite.fixture();
    const [view, large] = [await fixture.addSchedule(), await addWith(fixture, LARGE)];
    const pending = view.pending ?? large;
    const lives = /^(BEGIN|COMMIT|DISCARD PLANS)|INTO (writers|nodes)|FROM nodes|clock_timestamp/;
    proxy.interfere((sql) => (lives.test(sql) ? 'pass' : 'stall it'));
    const { store } = fixture;
    const stalled = Array.from({ length: AT_ONCE }, () => [
      store.loadPayloads([pending, large]),
      store.findPayload(fixture.partition, scheduleIdOf(large), 1),
      store.listDue(null, UNTIL, 10, SOME_SLOTS),
      store.loadDeliveries([pending]),
      store.listSchedules(fixture.partition, ALL_SCHEDULES, { before: null, limit: 1 }),
      store.claim([fixture.claim(pending, view)]),
      store.addProject({ ...fixture.project, name: 'stalled' }),
      store.takeSlots(
        'alive',
        [...SOME_SLOTS].map((slot) => ({ slot, epoch: 0 })),
      ),
    ]).flat();
    const ended = Promise.allSettled(stalled);
    await expectAlive(fixture);
    goOn();
    await ended;
  });

  test('while reads of payloads wait for a lock', async () => {
    const fixture = await suite.fixture();
    const pending = await addWith(fixture, SMALL);
    const lock = await holding('LOCK TABLE payloads IN ACCESS EXCLUSIVE MODE');
    const waiting = Array.from({ length: AT_ONCE }, () => fixture.store.loadPayloads([pending]));
    await expectAlive(fixture);
    expect(await fixture.store.listDue(null, UNTIL, 1)).toHaveLength(1);
    await lock[Symbol.asyncDispose]();
    for (const messages of await Promise.all(waiting)) expect(messages[0]?.payload).toHaveLength(3);
  });

  test('while released slots wait for a claim, and such slots are left for the next round', async () => {
    const fixture = await suite.fixture();
    const nodes = new Nodes(fixture.store);
    const fence = await nodes.take('holder', [203, 204]);
    const lock = await holding('SELECT 1 FROM slots WHERE slot = 203 FOR SHARE');
    const released = fixture.store.releaseSlots(fence);
    await expectAlive(fixture);
    await lock[Symbol.asyncDispose]();
    await released;
    const again = await holding('SELECT 1 FROM slots WHERE slot = 203 FOR SHARE');
    const { slots } = await nodes.renew('taker');
    const taken = await fixture.store.takeSlots(
      'taker',
      slots.filter(({ slot }) => slot === 203 || slot === 204),
    );
    await again[Symbol.asyncDispose]();
    expect([...taken.epochs.keys()]).toEqual([204]);
  });
});

test('the clock is exact, however the database rounds the numbers that it prints', async () => {
  await using other = await createDatabase(await sharedPostgres());
  const name = new URL(other.url).pathname.slice(1);
  await execute(other.url, `ALTER DATABASE ${name} SET extra_float_digits = -15`);
  const address = addressOf(other.url);
  const clock = { now: () => START };
  const store = await openPostgres({ address, clock, timers: systemTimers, node: 'exact', migrate: true });
  const ms = await store.readClock();
  const since = `clock_timestamp() - to_timestamp(${ms / 1_000})`;
  expect(await query(other.url, `SELECT 1 WHERE ${since} BETWEEN '0s' AND '1min'`)).toHaveLength(1);
  await store.close();
});

test('a small payload does not wait for a large one', async () => {
  const fixture = await suite.fixture();
  const [small, large] = [await addWith(fixture, SMALL), await addWith(fixture, LARGE)];
  proxy.interfere((sql) => (sql.startsWith('COPY') ? 'stall it' : 'pass'));
  const waiting = Promise.allSettled([fixture.store.loadPayloads([large])]);
  for (let round = 0; round < AT_ONCE; round++) {
    expect((await fixture.store.loadPayloads([small]))[0]?.payload).toHaveLength(SMALL.length);
  }
  goOn();
  await waiting;
});

// A busy machine may need longer to connect again than a renewal waits, so the test has more than one chance.
test.for(['lose the answer', 'lose it'] as const)(
  'a renewal is sent again after: %s',
  { retry: 3 },
  async (verdict) => {
    const fixture = await suite.fixture();
    const before = proxy.lost;
    let isLost = false;
    proxy.interfere((sql) => {
      if (isLost || !/INTO nodes/.test(sql)) return 'pass';
      isLost = true;
      return verdict;
    });
    await expectAlive(fixture);
    expect(proxy.lost).toBe(before + 1);
  },
);

test.for([
  [false, 13],
  [true, 5],
] as const)(
  'a store has as many connections as is documented; for a command: %s',
  async ([isSmall, count]) => {
    await using other = await startProxy(Number(new URL(await sharedPostgres()).port));
    const address = addressOf(other.through(database.url));
    const clock = { now: () => START };
    const store = await openPostgres({
      address,
      clock,
      timers: systemTimers,
      node: `counted ${isSmall}`,
      migrate: false,
      isSmall,
    });
    await expect.poll(() => other.open).toBe(count);
    await store.close();
  },
);
