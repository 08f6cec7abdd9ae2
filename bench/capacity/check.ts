/**
 * Measures a load that tests the model: schedules are created at a steady rate while others are delivered at the same
 * rate. The rate, the size of the bodies and the number of nodes differ from those of the measured costs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Receiver } from '../receiver.ts';
import { API_KEY, type SchedStore, startSched } from '../sched/service.ts';
import { warmUp } from '../workloads.ts';
import { type Check, type CostStore, combine, scaled } from './costs.ts';
import { countersOf } from './counters.ts';
import { createAll } from './paced-creates.ts';

export interface CheckPlan {
  readonly name: CostStore;
  readonly store: SchedStore;
  readonly nodes: number;
  readonly rate: number;
  readonly seconds: number;
}

const BODY_BYTES = 2_000;
const MS_PER_SECOND = 1_000;
/** From its create to its instant. */
const AHEAD_MS = 3_000;
/** After this time, both creates and deliveries go on at their rate. */
const STEADY_MS = AHEAD_MS + 1_000;
const ENDPOINTS = 300;
const ARRIVE_MS_MAX = 30_000;

export async function measureCheck(receiver: Receiver, plan: CheckPlan): Promise<Check> {
  const { name, store, nodes, rate, seconds } = plan;
  await using running = await startSched({ store, nodes });
  await using counters = await countersOf({ store, pids: running.pids, proxy: null });
  await warmUp(running, receiver);
  const path = `/check-${name}-${nodes}/`;
  const count = rate * (seconds + STEADY_MS / MS_PER_SECOND);
  const start = Date.now();
  const jobs = Array.from({ length: count }, (_, number) => ({
    number,
    due: Math.round(start + (number * MS_PER_SECOND) / rate + AHEAD_MS),
    url: `${receiver.url}${path}${number % ENDPOINTS}`,
  }));
  receiver.expect({ path, count });
  const created = createAll({ urls: running.urls, apiKeys: [API_KEY] }, jobs, {
    bodyBytes: BODY_BYTES,
    pace: rate,
  });
  await sleep(STEADY_MS);
  const [before, begun] = [await counters.read(), performance.now()];
  await sleep(seconds * MS_PER_SECOND);
  const difference = combine(await counters.read(), before, (after, first) => after - first);
  const elapsedSeconds = (performance.now() - begun) / MS_PER_SECOND;
  await created;
  if (!(await receiver.complete(path, ARRIVE_MS_MAX))) throw new Error('Some deliveries did not arrive.');
  return { store: name, nodes, rate, bodyBytes: BODY_BYTES, used: scaled(difference, 1 / elapsedSeconds) };
}
