/** The table of several nodes on one PostgreSQL: what a delivery and a create cost, against one node. */
import type { ContenderId } from '../contender.ts';
import type { Results } from '../results.ts';
import {
  type CostlyRound,
  costOf,
  known,
  medianOf,
  milliseconds,
  NOTHING,
  ratio,
  spread,
  whole,
  wholeCostMs,
} from './figures.ts';
import { plain, table } from './markdown.ts';
import { rateCell, roundsOf } from './tables.ts';

const IDS: readonly ContenderId[] = ['sched-postgres', 'sched-postgres-2', 'sched-postgres-3'];

/** One workload of one number of nodes. */
interface Line {
  readonly work: string;
  readonly nodes: number;
  readonly measured: string;
  readonly rounds: readonly CostlyRound[];
}

/** The table is empty if no more than one node was measured. */
export function nodesTable(results: Results): string {
  const lines = linesOf(results).filter(({ rounds }) => rounds.length > 0);
  if (lines.every(({ nodes }) => nodes === 1)) return '';
  return table(
    ['work', 'nodes', 'measured', 'cpu ms each', 'database', 'both', 'against one node'],
    lines.map(({ work, nodes, measured, rounds }) => {
      const one = lines.find((line) => line.work === work && line.nodes === 1);
      const [cost, costOfOne] = [medianCostMs(rounds), medianCostMs(one?.rounds ?? [])];
      return [
        plain(work),
        whole(nodes),
        measured,
        spread(rounds, (round) => costOf(round).ownMs, threeDigits),
        spread(rounds, (round) => costOf(round).databaseMs, threeDigits),
        cost === null ? NOTHING : threeDigits(cost),
        cost === null || costOfOne === null ? NOTHING : ratio(cost / costOfOne),
      ];
    }),
  );
}

function linesOf({ contenders, scale }: Results): readonly Line[] {
  const all = IDS.flatMap((id, n) => {
    const contender = contenders.find((one) => one.id === id);
    return contender === undefined ? [] : [{ ...contender, nodes: n + 1 }];
  });
  return [
    ...all.map(({ nodes, paced }) => ({
      work: `${scale.paced.rate} a second`,
      nodes,
      measured: `p99 ${spread(paced, ({ p99Ms }) => p99Ms, milliseconds)} ms`,
      rounds: paced,
    })),
    ...scale.bursts.flatMap((count) =>
      all.map((contender) => ({
        work: `${whole(count)} at once`,
        nodes: contender.nodes,
        measured: `${rateCell(roundsOf(contender, count), scale.burstSecondsMax)} a second`,
        rounds: roundsOf(contender, count),
      })),
    ),
    ...all.map(({ nodes, creates }) => ({
      work: 'creates',
      nodes,
      measured: `${spread(creates, ({ perSecond }) => perSecond, whole)} a second`,
      rounds: creates,
    })),
  ];
}

function medianCostMs(rounds: readonly CostlyRound[]): number | null {
  return medianOf(known(rounds.map((round) => wholeCostMs(costOf(round)))));
}

function threeDigits(ms: number): string {
  return ms.toFixed(3);
}
