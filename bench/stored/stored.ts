/** The workload `stored` runs paced jobs and a burst with more and more schedules stored, and measures the memory. */

import { whole } from '../report/figures.ts';
import { STORE_NAMES } from '../report/tables.ts';
import {
  type Scale,
  type SchedStoreKind,
  STORE_KINDS,
  type StoredResults,
  type StoredRound,
} from '../results.ts';
import type { SchedStore } from '../sched/service.ts';
import { type BenchContext, burst, paced, warmUp } from '../workloads.ts';
import { coldStart } from './cold.ts';
import type { FilledStores } from './filled-stores.ts';
import { startReady } from './ready.ts';

/** Each size of each store has one step for filling and one for each round. */
export function storedSteps({ stored }: Scale): number {
  return STORE_KINDS.length * stored.sizes.length * (1 + stored.rounds);
}

interface Line {
  readonly kind: SchedStoreKind;
  readonly count: number;
  /** Null if the store could not be filled. */
  readonly store: SchedStore | null;
  readonly rounds: StoredRound[];
}

export async function measureStored(context: BenchContext, stores: FilledStores): Promise<StoredResults> {
  const { scale, progress } = context;
  const remarks: string[] = [];
  const remark = (text: string) => {
    remarks.push(text);
    progress.note(text);
  };
  const lines: Line[] = [];
  for (const count of scale.stored.sizes) {
    for (const kind of STORE_KINDS) {
      const name = nameOf(kind, count);
      progress.step(`${name}: filling`);
      const store = await stores.with(kind, count).catch((error: unknown) => {
        remark(`${name} was left out: ${messageOf(error)}`);
        return null;
      });
      lines.push({ kind, count, store, rounds: [] });
      const cold = store === null || count === 0 ? null : await coldStart(store, count);
      if (cold !== null) remark(cold);
    }
  }
  for (let round = 1; round <= scale.stored.rounds; round++) {
    for (const line of lines) {
      const name = nameOf(line.kind, line.count);
      progress.step(`${name}: paced and burst, round ${round}`);
      if (line.store === null) continue;
      try {
        line.rounds.push(await takeRound(context, line.store));
      } catch (error) {
        remark(`${name}, round ${round}: ${messageOf(error)}`);
      }
    }
  }
  return {
    lines: lines
      .filter(({ rounds }) => rounds.length > 0)
      .map(({ kind, count, rounds }) => ({ store: kind, stored: count, rounds })),
    remarks,
  };
}

async function takeRound(
  { resources, receiver, scale }: BenchContext,
  store: SchedStore,
): Promise<StoredRound> {
  await using running = await startReady({ store, profileDir: resources.profileDir });
  const memoryMbAtStart = running.memoryMb();
  const warm = await warmUp(running, receiver);
  const pacedRound = await paced(warm, scale.paced);
  const burstRound = await burst(warm, { count: scale.stored.burst, secondsMax: scale.burstSecondsMax });
  return { paced: pacedRound, burst: burstRound, memoryMbAtStart, memoryMbAfter: running.memoryMb() };
}

function nameOf(kind: SchedStoreKind, count: number): string {
  return `${STORE_NAMES[kind]} with ${whole(count)} stored`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
