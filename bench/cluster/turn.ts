/**
 * One turn of a contender, on a database of its own: warmed up by a small burst, then a burst, then a steady
 * pace. Everything is stored before the first is due: how long that takes the warm-up tells.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresServer } from '#test/postgres/server.ts';
import type { Arrivals } from './arrivals.ts';
import type { Contender, Order, RunningContender } from './contender.ts';
import type { Notes } from './receiver.ts';

export interface Load {
  /** All at once. */
  readonly deliveries: number;
  /** Per second. */
  readonly rate: number;
  readonly seconds: number;
}

export interface Turn {
  readonly burst: Notes & { readonly cpuMs: number | null };
  readonly paced: Notes;
}

const MS_PER_SECOND = 1_000;
/** Endpoints, so that every node has its part of them. */
const PATHS = 200;
const WARM_UP_DELIVERIES = 500;
const WARM_UP_LEAD_MS = 6_000;
/** Beside twice the time that storing should take. */
const LEAD_MS = 3_000;
/** Storing has ended by then; before, it would be measured too. */
const QUIET_MS = 500;
const ARRIVE_MS_MAX = 120_000;
/** After the last arrival: outcomes are written, and what is sent again arrives. */
const SETTLE_MS = 1_500;

export async function takeTurn(
  contender: Contender,
  { server, arrivals, load }: { server: PostgresServer; arrivals: Arrivals; load: Load },
): Promise<Turn> {
  await using database = await server.createDatabase();
  await using running = await contender.start(database.url);
  const run = (path: string, dues: readonly number[]) => runOrders(running, arrivals, path, dues);

  const warmUp = await run('/warm/', together(WARM_UP_DELIVERIES, Date.now() + WARM_UP_LEAD_MS));
  const startOf = (count: number) => Date.now() + LEAD_MS + 2 * count * warmUp.storeMsEach;
  const burst = await run('/burst/', together(load.deliveries, startOf(load.deliveries)));
  const paced = await run('/paced/', inStep(load, startOf(load.rate * load.seconds)));
  return { burst, paced };
}

function together(count: number, at: number): readonly number[] {
  return Array.from({ length: count }, () => Math.round(at));
}

function inStep({ rate, seconds }: Load, startAt: number): readonly number[] {
  return Array.from({ length: rate * seconds }, (_, n) => Math.round(startAt + (n * MS_PER_SECOND) / rate));
}

interface Run extends Notes {
  readonly storeMsEach: number;
  /** From the first instant on, until all is settled. */
  readonly cpuMs: number | null;
}

/** In the order of their instants. */
async function runOrders(
  running: RunningContender,
  arrivals: Arrivals,
  path: string,
  dues: readonly number[],
): Promise<Run> {
  const [first = 0, last = 0] = [dues[0], dues.at(-1)];
  arrivals.expect({ path, count: dues.length });
  const storeMs = await stopwatch(() => running.store(ordersOf(arrivals.url + path, dues)));
  const quietMs = first - QUIET_MS - Date.now();
  if (quietMs < 0) throw new Error('Storing took too long: this turn says nothing.');
  await sleep(quietMs);
  const before = running.cpuMs();
  await arrivals.complete(last - Date.now() + ARRIVE_MS_MAX);
  await sleep(SETTLE_MS);
  const after = running.cpuMs();
  const cpuMs = before === null || after === null ? null : after - before;
  return { ...(await arrivals.notes()), storeMsEach: storeMs / dues.length, cpuMs };
}

function ordersOf(url: string, dues: readonly number[]): readonly Order[] {
  return dues.map((due, number) => ({ number, due, url: url + (number % PATHS) }));
}

async function stopwatch(act: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}
