/**
 * Endpoints that hang, with more due each than they ever get through, beside healthy ones. The healthy ones
 * notice nothing: measured against a run without the others.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Footprint, footprintOf } from './footprint.ts';
import { Gateway } from './gateway.ts';
import { AT_ONCE, Ledger } from './ledger.ts';
import { type Spread, spreadOf } from './numbers.ts';
import { startFiring } from './service.ts';
import { type Group, Shots } from './shots.ts';
import { readStored } from './stored.ts';

export interface HangingOptions {
  readonly hanging: number;
  /** Deliveries due at each hanging endpoint. */
  readonly dueEach: number;
  readonly healthy: number;
  /** Deliveries of each healthy endpoint. */
  readonly healthyEach: number;
  /** Over which the healthy ones are due. */
  readonly spreadMs: number;
}

export interface HangingReport {
  /** Of the healthy ones, from due to arrival. */
  readonly lateness: Spread;
  readonly healthyArrived: number;
  /** Requests that hung when the last healthy one had arrived. */
  readonly stillHanging: number;
  /** Hanging ones that had ended by then. */
  readonly hangingEnded: number;
  readonly before: Footprint | null;
  readonly during: Footprint | null;
}

const HANGS = { status: 200, afterMs: Number.POSITIVE_INFINITY };
/** As many as the service lets hang at once, or all. */
const SETTLE_MS = 3_000;
const CREATED_WITHIN_MS = 2_500;

export async function runHanging(options: HangingOptions): Promise<HangingReport> {
  const { hanging, dueEach, healthy, healthyEach, spreadMs } = options;
  const dataDir = temporaryDirectory();
  await using receiver = await startReceiver();
  const ledger = new Ledger();
  const gateway = new Gateway();
  const shots = new Shots({ gateway, receiver, ledger });
  await using sched = await startFiring(dataDir);
  gateway.open(sched.url);
  const before = footprintOf(sched.pid);

  const stuck =
    hanging === 0
      ? null
      : await shots.group({
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
  const well = await shots.group({
    name: 'healthy',
    count,
    endpoints: healthy,
    body: (i) => ({ fire_at: new Date(start + Math.floor((i / count) * spreadMs)).toISOString() }),
    plan: () => AT_ONCE,
  });
  await well.allArrived();
  const during = footprintOf(sched.pid);
  gateway.close();
  const { lateness, ended } = measure(dataDir, ledger, well);
  await sched.kill();
  return {
    lateness,
    healthyArrived: well.arrived(),
    stillHanging: (stuck?.arrived() ?? 0) - ended,
    hangingEnded: ended,
    before,
    during,
  };
}

function measure(dataDir: string, ledger: Ledger, well: Group) {
  const { deliveries, attempts } = readStored(dataDir);
  const healthy = new Set(well.ids);
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
