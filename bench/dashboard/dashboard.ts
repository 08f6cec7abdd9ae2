/**
 * The workload `dashboard` uses a store with many deliveries. It measures how long the data of every page take, and
 * whether requests are later while a page is open. Rounds with and without an open page alternate on the same service.
 */

import { whole } from '../report/figures.ts';
import { STORE_NAMES } from '../report/tables.ts';
import {
  type DashboardLine,
  type DashboardResults,
  type LatenessRound,
  type PageTimes,
  type Scale,
  STORE_KINDS,
} from '../results.ts';
import type { SchedStore } from '../sched/service.ts';
import { quantileOfSorted } from '../statistics.ts';
import type { FilledStores } from '../stored/filled-stores.ts';
import { startReady } from '../stored/ready.ts';
import { messageOf } from '../stored/stored.ts';
import { type BenchContext, paced, warmUp } from '../workloads.ts';
import { DashboardUser } from './dashboard-user.ts';
import { makeMixed } from './mixed.ts';

const PROJECT = 'p/default/test/';
const REQUESTS_EACH = 15;
/** No delivery is of a profile. The filter must not scan those without one. */
const NO_PROFILE = 'ep_00000000000000000000000000';
/** The queries that the overview and the activity of the deliveries watch. */
const WATCHED = [`${PROJECT}overview?range=1h`, `${PROJECT}attempts?limit=50`];

/** Each store has one step for filling, one for its pages and one for each round. */
export function dashboardSteps({ dashboard }: Scale): number {
  return STORE_KINDS.length * (2 + dashboard.rounds);
}

export async function measureDashboard(
  context: BenchContext,
  stores: FilledStores,
): Promise<DashboardResults> {
  const { stored } = context.scale.dashboard;
  const remarks: string[] = [];
  const lines: DashboardLine[] = [];
  for (const kind of STORE_KINDS) {
    const name = `${STORE_NAMES[kind]} with ${whole(stored)} deliveries stored`;
    context.progress.step(`${name}: filling`);
    try {
      const store = await stores.fresh(kind, stored);
      await makeMixed(store, Date.now());
      lines.push({ store: kind, stored, ...(await measureStore(context, store, name)) });
    } catch (error) {
      remarks.push(`${name}: ${messageOf(error)}`);
      context.progress.note(`${name}: ${messageOf(error)}`);
    }
  }
  return { lines, remarks };
}

async function measureStore(
  context: BenchContext,
  store: SchedStore,
  name: string,
): Promise<Pick<DashboardLine, 'pages' | 'closed' | 'open'>> {
  const { resources, receiver, scale, progress } = context;
  await using running = await startReady({ store, profileDir: resources.profileDir });
  const user = await DashboardUser.signIn(running.urls[0] ?? '', store);
  progress.step(`${name}: the data of every page`);
  const pages: PageTimes[] = [];
  for (const [page, path] of await pathsOf(user)) pages.push(await timesOf(user, page, path));

  const warm = await warmUp(running, receiver);
  const closed: LatenessRound[] = [];
  const open: LatenessRound[] = [];
  for (let round = 1; round <= scale.dashboard.rounds; round++) {
    progress.step(`${name}: with a page open and without, round ${round}`);
    closed.push(await paced(warm, scale.paced));
    await using page = await user.open(WATCHED);
    open.push(await paced(warm, scale.paced));
    if (page.bytes() === 0) throw new Error('The open page received nothing.');
  }
  return { pages, closed, open };
}

async function timesOf(user: DashboardUser, page: string, path: string): Promise<PageTimes> {
  const { ms: firstMs, bytes } = await user.get(path);
  const ms: number[] = [];
  for (let asked = 0; asked < REQUESTS_EACH; asked++) ms.push((await user.get(path)).ms);
  const sorted = ms.toSorted((a, b) => a - b);
  return {
    page,
    firstMs,
    p50Ms: quantileOfSorted(sorted, 0.5),
    maxMs: quantileOfSorted(sorted, 1),
    bytes,
  };
}

interface Listed {
  readonly data: readonly { readonly id: string; readonly schedule_id?: string }[];
}

/** Returns the request of each page, with ids of stored objects. */
async function pathsOf(user: DashboardUser): Promise<readonly (readonly [page: string, path: string])[]> {
  const { data } = (await user.json(`${PROJECT}deliveries?status=dead_letter&limit=1`)) as Listed;
  const { id = '', schedule_id: schedule = '' } = data[0] ?? {};
  const now = Date.now();
  const at = (ms: number) => encodeURIComponent(new Date(now + ms).toISOString());
  const day = 86_400_000;
  const searched = `${PROJECT}search/deliveries?limit=50`;
  return [
    ...['1h', '6h', '24h', '7d', '30d'].map(
      (range) => [`overview, ${range}`, `${PROJECT}overview?range=${range}`] as const,
    ),
    ['schedules', `${PROJECT}search/schedules`],
    ['schedules, paused', `${PROJECT}search/schedules?state=paused`],
    ['schedules, by label', `${PROJECT}search/schedules?q=${encodeURIComponent('tenant=tenant-7')}`],
    ['schedules, by destination', `${PROJECT}search/schedules?q=customer-77.example`],
    ['schedules, by a destination nobody has', `${PROJECT}search/schedules?q=nowhere.invalid`],
    ['schedule', `${PROJECT}schedules/${schedule}`],
    [
      'schedule, calendar',
      `${PROJECT}schedules/${schedule}/calendar?from=${at(-15 * day)}&until=${at(15 * day)}`,
    ],
    ['schedule, deliveries', `${searched}&group=all&schedule_id=${schedule}`],
    ['activity', `${PROJECT}attempts?limit=50`],
    ['activity, not retryable', `${PROJECT}attempts?limit=50&outcome=terminal`],
    ['waiting', `${searched}&group=waiting`],
    ['waiting, scheduled', `${searched}&group=waiting&status=scheduled`],
    ['waiting, of an endpoint profile', `${searched}&group=waiting&endpoint_id=${NO_PROFILE}`],
    ['ended', `${searched}&group=ended`],
    ['ended, dead letters', `${searched}&group=ended&status=dead_letter`],
    ['ended, of a day', `${searched}&group=ended&created_after=${at(-day)}`],
    ['dead letters to replay, counted', `${PROJECT}replays/count?status=dead_letter`],
    ['delivery', `${PROJECT}deliveries/${id}/details`],
    ['endpoints', `${PROJECT}destinations`],
    ['upcoming, an hour', `${PROJECT}upcoming`],
    ['upcoming, a day', `${PROJECT}upcoming?from=${at(0)}&until=${at(day)}`],
    ['upcoming, a week', `${PROJECT}upcoming?from=${at(0)}&until=${at(7 * day)}`],
    ['replays', `${PROJECT}replays`],
    ['keys', `${PROJECT}keys`],
    ['secrets', `${PROJECT}secrets`],
    ['people', 'users'],
    ['audit log', 'audit'],
  ];
}
