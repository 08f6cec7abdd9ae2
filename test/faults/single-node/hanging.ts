/**
 * Hanging endpoints with more due deliveries than they ever get through, beside healthy endpoints. The
 * healthy ones are not affected, compared with a run without the hanging ones.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Footprint, footprintOf } from './footprint.ts';
import { ANSWER_AT_ONCE, Ledger } from './ledger.ts';
import { type Spread, spreadOf } from './numbers.ts';
import { type Group, OneShots } from './one-shots.ts';
import { RetryingClient } from './retrying-client.ts';
import { startService, startServiceInThread } from './service.ts';
import { readStored } from './stored.ts';

export interface HangingOptions {
  readonly hanging: number;
  /** Deliveries due at each hanging endpoint. */
  readonly dueEach: number;
  readonly healthy: number;
  /** Deliveries of each healthy endpoint. */
  readonly healthyEach: number;
  /** The span over which the healthy deliveries are due. */
  readonly spreadMs: number;
  /** Whether the service runs in this thread, which costs less. Nothing can be measured then. */
  readonly inThread?: boolean;
}

export interface HangingReport {
  /** The time from due to arrival of healthy deliveries. */
  readonly lateness: Spread;
  readonly healthyArrived: number;
  /** Requests that hung when the last healthy delivery had arrived. */
  readonly stillHanging: number;
  /** Hanging deliveries that had ended by then. */
  readonly hangingEnded: number;
  readonly before: Footprint | null;
  readonly during: Footprint | null;
}

const HANGS = { status: 200, afterMs: Number.POSITIVE_INFINITY };
/** By this time as many requests hang as the service allows, or all. */
const SETTLE_MS = 3_000;
const CREATED_WITHIN_MS = 2_500;
/** The hanging attempts need not finish. */
const GRACE = { env: { SCHED_SHUTDOWN_GRACE: '1ms' } };

export async function runHanging(options: HangingOptions): Promise<HangingReport> {
  const { hanging, dueEach, healthy, healthyEach, spreadMs, inThread = false } = options;
  const dataDir = temporaryDirectory();
  await using receiver = await startReceiver();
  const ledger = new Ledger();
  const client = new RetryingClient();
  const oneShots = new OneShots({ client, receiver, ledger });
  await using sched = await (inThread ? startServiceInThread(dataDir, GRACE) : startService(dataDir));
  client.open(sched.url);
  const footprint = () => ('pid' in sched ? footprintOf(sched.pid) : null);
  const before = footprint();

  const stuck =
    hanging === 0
      ? null
      : await oneShots.group({
          name: 'hanging',
          count: hanging * dueEach,
          endpoints: hanging,
          body: () => ({ delay: '1s' }),
          plan: () => HANGS,
        });
  await stuck?.allArrived(hanging);
  if (stuck !== null) await sleep(SETTLE_MS);

  const count = healthy * healthyEach;
  // All are created before the first is due.
  const start = Date.now() + CREATED_WITHIN_MS;
  const healthyGroup = await oneShots.group({
    name: 'healthy',
    count,
    endpoints: healthy,
    body: (i) => ({ fire_at: new Date(start + Math.floor((i / count) * spreadMs)).toISOString() }),
    plan: () => ANSWER_AT_ONCE,
  });
  await healthyGroup.allArrived();
  const during = footprint();
  client.close();
  const { lateness, ended } = measure(dataDir, ledger, healthyGroup);
  return {
    lateness,
    healthyArrived: healthyGroup.arrived(),
    stillHanging: (stuck?.arrived() ?? 0) - ended,
    hangingEnded: ended,
    before,
    during,
  };
}

function measure(dataDir: string, ledger: Ledger, healthyGroup: Group) {
  const { deliveries, attempts } = readStored(dataDir);
  const healthy = new Set(healthyGroup.ids);
  const dueAt = new Map(
    deliveries.filter((each) => healthy.has(each.schedule_id)).map((each) => [each.id, each.scheduled_for]),
  );
  const lateness = ledger.received.flatMap(({ deliveryId, arrivedAt }) => {
    const due = dueAt.get(deliveryId);
    return due === undefined ? [] : [arrivedAt - due];
  });
  const ended = attempts.filter(
    ({ delivery_id, finished_at }) => !dueAt.has(delivery_id) && finished_at !== null,
  );
  return { lateness: spreadOf(lateness), ended: ended.length };
}
