/** Measures what the upkeep costs that comes after deliveries: vacuum, and the removal of old history. */
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../test/postgres/databases.ts';
import { runStatement } from '../neighbour/sql.ts';
import { type SchedStore, startSched } from '../sched/service.ts';
import type { CostPoint, Usage } from './costs.ts';
import { countersOf } from './counters.ts';
import { netOf } from './create-and-deliver.ts';

const MS_PER_SECOND = 1_000;
const CHECK_MS = 100;
const BEGIN_MS_MAX = 20_000;
/** Rows are removed with the bodies that they were stored with, so there is no other size. */
const BODY_BYTES = 0;

/** One process of the server removes all dead row versions, as autovacuum does for each table. */
export async function vacuumOf(
  store: SchedStore & { readonly kind: 'postgres' },
  idle: Usage,
): Promise<CostPoint> {
  const count = await countIn(store, 'SELECT count(*) AS found FROM deliveries');
  await using counters = await countersOf({ store, pids: [], proxy: null });
  const [before, start] = [await counters.read(), performance.now()];
  await query(store.url, 'VACUUM');
  const seconds = (performance.now() - start) / MS_PER_SECOND;
  const each = netOf({ before, after: await counters.read(), idle, seconds: 0, count });
  return {
    work: 'vacuum',
    bodyBytes: BODY_BYTES,
    perSecond: count / seconds,
    count,
    each: { ...each, diskBytes: 0 },
  };
}

/**
 * The service starts again with a retention that is over for everything, and removes for some seconds. Half of the
 * rows that it removes are deliveries, and half are schedules.
 */
export async function removalOf(store: SchedStore, idle: Usage, secondsMax: number): Promise<CostPoint> {
  const stored = await rowsIn(store);
  await using running = await startSched({ store, env: { SCHED_RETENTION: '1s' } });
  await using counters = await countersOf({ store, pids: running.pids, proxy: null });
  const begun = performance.now();
  let [before, start, rows] = [await counters.read(), begun, stored];
  // The last reading before the first removal is the one to compare with.
  while (rows === stored) {
    if (performance.now() - begun > BEGIN_MS_MAX) throw new Error('No old history is removed.');
    [before, start] = [await counters.read(), performance.now()];
    await sleep(CHECK_MS);
    rows = await rowsIn(store);
  }
  while (rows > 0 && performance.now() - start < secondsMax * MS_PER_SECOND) {
    await sleep(CHECK_MS);
    rows = await rowsIn(store);
  }
  const seconds = (performance.now() - start) / MS_PER_SECOND;
  const count = (stored - rows) / 2;
  const each = netOf({ before, after: await counters.read(), idle, seconds, count });
  return { work: 'removal', bodyBytes: BODY_BYTES, perSecond: count / seconds, count, each };
}

function rowsIn(store: SchedStore): Promise<number> {
  return countIn(
    store,
    'SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM schedules) AS found',
  );
}

async function countIn(store: SchedStore, sql: string): Promise<number> {
  const [row] = (await runStatement(store, sql)) as readonly { readonly found: string | number }[];
  return Number(row?.found);
}
