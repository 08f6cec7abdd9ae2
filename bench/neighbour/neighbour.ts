/**
 * The workload `neighbour` measures a healthy customer with a steady rate of small deliveries. It is measured alone,
 * beside each hostile customer, and beside all of them, on SQLite and on two nodes with PostgreSQL. A baseline and
 * this version run alternately.
 */

import { STORE_NAMES } from '../report/tables.ts';
import type { NeighbourResults, NeighbourRound, Scale, SchedStoreKind, SchedVersion } from '../results.ts';
import { ROOT } from '../sched/process.ts';
import { messageOf } from '../stored/stored.ts';
import type { BenchContext } from '../workloads.ts';
import { type Beside, HOSTILE, hostileOf } from './customers.ts';
import { HostileReceiver } from './hostile-receiver.ts';
import { LEAD_MS, measureOnce } from './measurement.ts';
import { PreparedStores } from './prepared-stores.ts';

export interface NeighbourChoice {
  readonly stores: readonly SchedStoreKind[];
  /** The hostile customers to measure beside, one after the other. */
  readonly beside: readonly Beside[];
  /** The checkout of another version, or null. */
  readonly baseline: string | null;
}

/** A line of the result table. Each round measures every line once. */
interface Line {
  readonly store: SchedStoreKind;
  readonly version: SchedVersion;
  readonly beside: Beside;
  /** The folder of the version's checkout. */
  readonly root: string;
  readonly rounds: NeighbourRound[];
  readonly lead: { ms: number };
}

/** Each line has one step for filling and one for each round. */
export function neighbourSteps({ neighbour }: Scale, choice: NeighbourChoice): number {
  return linesOf(choice).length * (1 + neighbour.rounds);
}

/** Calls `measured` with the results so far after each measurement, because all of them take more than an hour. */
export async function measureNeighbour(
  context: BenchContext,
  choice: NeighbourChoice,
  measured: (results: NeighbourResults) => void,
): Promise<void> {
  const { resources, progress, scale } = context;
  const lines = linesOf(choice);
  const remarks: string[] = [];
  await using made = new AsyncDisposableStack();
  const hostileReceiver = made.use(await HostileReceiver.start());
  const customers = HOSTILE.filter((one) => lines.some(({ beside }) => hostileOf(beside).includes(one)));
  const options = { postgres: resources.postgres, hostileReceiver, scale: scale.neighbour, customers };
  const storesOf = new Map(
    [...new Set(lines.map(({ root }) => root))].map((root) => [
      root,
      made.use(new PreparedStores(root, options)),
    ]),
  );
  const step = async (line: Line, what: string, take: (stores: PreparedStores) => Promise<void>) => {
    const name = `${nameOf(line)}: ${what}`;
    progress.step(name);
    try {
      const stores = storesOf.get(line.root);
      if (stores !== undefined) await take(stores);
    } catch (error) {
      remarks.push(`${name}: ${messageOf(error)}`);
      progress.note(`${name}: ${messageOf(error)}`);
    }
  };
  for (const line of lines) {
    await step(line, 'filling', async (stores) => {
      await stores.prepare(line.store, hostileOf(line.beside));
    });
  }
  for (let round = 1; round <= scale.neighbour.rounds; round++) {
    for (const line of lines) {
      const { store: kind, root, beside, lead } = line;
      await step(line, `round ${round}`, async (stores) => {
        const measurement = { kind, root, stores, hostileReceiver, customers: hostileOf(beside), lead };
        line.rounds.push(await measureOnce(context, measurement));
      });
      measured(resultsOf(lines, remarks));
    }
  }
}

function resultsOf(lines: readonly Line[], remarks: readonly string[]): NeighbourResults {
  const taken = lines.filter(({ rounds }) => rounds.length > 0);
  return {
    lines: taken.map(({ store, version, beside, rounds }) => ({ store, version, beside, rounds })),
    remarks,
  };
}

/** The lines are measured in this order, so that versions alternate. */
function linesOf({ stores, beside, baseline }: NeighbourChoice): readonly Line[] {
  const versions = [
    { version: 'this', root: ROOT } as const,
    ...(baseline === null ? [] : [{ version: 'baseline', root: baseline } as const]),
  ];
  return stores.flatMap((store) =>
    beside.flatMap((one) =>
      versions.map((version) => ({ store, ...version, beside: one, rounds: [], lead: { ms: LEAD_MS } })),
    ),
  );
}

function nameOf({ store, version, beside }: Line): string {
  const who = beside === 'alone' ? 'a healthy customer alone' : `a healthy customer beside ${beside}`;
  return `${STORE_NAMES[store]}${version === 'baseline' ? ' (baseline)' : ''}, ${who}`;
}
