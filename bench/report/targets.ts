/**
 * The project's own targets. Each compares medians of one run. A target without measurements is neither met nor
 * missed. A target against several peers is met only if all of them were measured. Peers have the settings of their
 * documentation. Settings that only an expert would find have a separate target.
 */
import { CONTENDER_IDS, type ContenderId } from '../contender.ts';
import type { LatenessRound, RecoveryLine, Results, SchedStoreKind, StoredLine } from '../results.ts';
import {
  burstRate,
  exactRatio,
  known,
  medianOf,
  milliseconds,
  ratio,
  type Target,
  whole,
} from './figures.ts';
import { neighbourTargets } from './neighbour.ts';
import { packageTargets } from './package.ts';

/** Contenders that are not peers with documented settings. */
const OTHERS: ReadonlySet<ContenderId> = new Set(['limit', 'bare-route', 'bullmq-hz']);
const PEERS = CONTENDER_IDS.filter((id) => !OTHERS.has(id) && !id.startsWith('sched-'));
const STORES: readonly (readonly [SchedStoreKind, ContenderId, string])[] = [
  ['sqlite', 'sched-sqlite', 'SQLite'],
  ['postgres', 'sched-postgres', 'PostgreSQL'],
];
const MORE_STORED_RATIO = 0.2;
const MEMORY_MB_MORE_MAX = 100;
const SERVING_MS_MAX = 2_000;
/** Rounds differ by a fifth, so rates within a fifth count as equal. */
const DRAIN_RATIO_MIN = 0.8;
/** The stricter end of the specification's 100 to 300 ms. */
const FRESH_P99_MS_MAX = 100;

export function targetsOf(results: Results): readonly Target[] {
  return [
    ...pacedTargets(results),
    ...results.scale.bursts.flatMap((count) => burstTargets(results, count)),
    ...createTargets(results),
    ...STORES.flatMap(([store, , name]) => storedTargets(results, store, name)),
    ...STORES.flatMap(([store, id, name]) => recoveryTargets(results, store, id, name)),
    ...STORES.flatMap(([store]) => neighbourTargets(results, store)),
    ...packageTargets(results),
  ];
}

type Figure = number | null;

function judgeTarget(
  work: string,
  asked: string,
  figures: readonly Figure[],
  judge: (...numbers: readonly number[]) => Pick<Target, 'measured' | 'isMet'>,
): Target {
  const numbers = known(figures);
  if (numbers.length < figures.length) return { work, asked, measured: 'not measured', isMet: null };
  return { work, asked, ...judge(...numbers) };
}

function within(work: string, asked: string, mine: Figure, theirs: Figure, moreMax: number): Target {
  return judgeTarget(work, asked, [mine, theirs], (ours = 0, limit = 0) => ({
    measured: `${milliseconds(ours)} against ${milliseconds(limit)} ms: ${signed(ours - limit)} ms`,
    isMet: ours - limit <= moreMax,
  }));
}

function atLeast(work: string, asked: string, mine: Figure, theirs: Figure, ratioMin: number): Target {
  return judgeTarget(work, asked, [mine, theirs], (ours = 0, other = 0) => ({
    measured: `${whole(ours)} against ${whole(other)} a second: ${exactRatio(ours / other)}`,
    isMet: ours / other >= ratioMin,
  }));
}

/** A target is not met if some peers did not take part, because one of them could be better. */
function unlessMissing(areAll: boolean, judged: Target): Target {
  if (areAll || judged.isMet !== true) return judged;
  return { ...judged, measured: `${judged.measured}, but not all took part`, isMet: null };
}

function signed(ms: number): string {
  return `${ms < 0 ? '−' : '+'}${milliseconds(Math.abs(ms))}`;
}

function pacedTargets(results: Results): readonly Target[] {
  const { rate } = results.scale.paced;
  const work = `${rate} a second`;
  const at = (id: ContenderId, pick: (round: LatenessRound) => number) =>
    medianOf((contender(results, id)?.paced ?? []).map(pick));
  const p50 = (round: LatenessRound) => round.p50Ms;
  const p99 = (round: LatenessRound) => round.p99Ms;
  const better = (asked: string, ids: readonly ContenderId[]) => {
    const peers = known(ids.map((id) => at(id, p99)));
    const best = peers.length === 0 ? null : Math.min(...peers);
    const judged = judgeTarget(work, asked, [at('sched-sqlite', p99), best], (ours = 0, theirs = 0) => ({
      measured: `${milliseconds(ours)} against ${milliseconds(theirs)} ms: ${ratio(theirs / ours)} times`,
      isMet: theirs / ours >= 5,
    }));
    return unlessMissing(peers.length === ids.length, judged);
  };
  return [
    within(work, 'SQLite: p50 within 1 ms of the limit', at('sched-sqlite', p50), at('limit', p50), 1),
    within(work, 'SQLite: p99 within 10 ms of the limit', at('sched-sqlite', p99), at('limit', p99), 10),
    within(
      work,
      'PostgreSQL: p99 within 25 ms of the limit',
      at('sched-postgres', p99),
      at('limit', p99),
      25,
    ),
    better('SQLite: p99 at least 5 times better than the best peer', PEERS),
    better('SQLite: p99 at least 5 times better than BullMQ on a Redis with hz 100', ['bullmq-hz']),
  ];
}

function burstTargets(results: Results, count: number): readonly Target[] {
  const work = `${whole(count)} at once`;
  const rate = (id: ContenderId) => burstRate(burstOf(results, id, count))?.median ?? null;
  const [sqlite, postgres, limit] = [rate('sched-sqlite'), rate('sched-postgres'), rate('limit')];
  return [
    atLeast(work, 'SQLite: at least 60 % of the limit', sqlite, limit, 0.6),
    atLeast(work, 'SQLite: ahead of BullMQ without persistence', sqlite, rate('bullmq'), 1),
    atLeast(work, 'PostgreSQL: at least 40 % of the limit', postgres, limit, 0.4),
    atLeast(work, 'PostgreSQL: at least twice graphile-worker', postgres, rate('graphile'), 2),
    atLeast(
      work,
      'PostgreSQL: at least twice graphile-worker with its batches',
      postgres,
      rate('graphile-batches'),
      2,
    ),
  ];
}

function createTargets(results: Results): readonly Target[] {
  const rate = (id: ContenderId) =>
    medianOf((contender(results, id)?.creates ?? []).map(({ perSecond }) => perSecond));
  const [sqlite, postgres, bare] = [rate('sched-sqlite'), rate('sched-postgres'), rate('bare-route')];
  return [
    atLeast('creates', 'SQLite: at least half of a bare route', sqlite, bare, 1 / 2),
    atLeast('creates', 'PostgreSQL: at least a third of a bare route', postgres, bare, 1 / 3),
  ];
}

function storedTargets({ stored, scale }: Results, store: SchedStoreKind, name: string): readonly Target[] {
  if (stored === null) return [];
  const most = Math.max(...scale.stored.sizes);
  const lineWith = (size: number) =>
    stored.lines.find((line) => line.store === store && line.stored === size);
  const [none, full] = [lineWith(0), lineWith(most)];
  const work = `${whole(most)} stored`;
  const percent = `${MORE_STORED_RATIO * 100} %`;
  const p99 = (line: StoredLine | undefined) =>
    medianOf((line?.rounds ?? []).map(({ paced }) => paced.p99Ms));
  const rate = (line: StoredLine | undefined) =>
    burstRate((line?.rounds ?? []).map(({ burst }) => burst))?.median ?? null;
  const memory = (line: StoredLine | undefined) =>
    medianOf(known((line?.rounds ?? []).map(({ memoryMbAfter }) => memoryMbAfter)));
  return [
    judgeTarget(
      work,
      `${name}: p99 within ${percent} of that with none`,
      [p99(full), p99(none)],
      (with_ = 0, without = 0) => ({
        measured: `${milliseconds(with_)} against ${milliseconds(without)} ms: ${ratio(with_ / without)}`,
        isMet: with_ / without <= 1 + MORE_STORED_RATIO,
      }),
    ),
    atLeast(
      work,
      `${name}: burst rate within ${percent} of that with none`,
      rate(full),
      rate(none),
      1 - MORE_STORED_RATIO,
    ),
    judgeTarget(
      work,
      `${name}: memory within ${MEMORY_MB_MORE_MAX} MB of that with none`,
      [memory(full), memory(none)],
      (with_ = 0, without = 0) => ({
        measured: `${whole(with_)} against ${whole(without)} MB`,
        isMet: with_ - without <= MEMORY_MB_MORE_MAX,
      }),
    ),
  ];
}

function recoveryTargets(
  results: Results,
  store: SchedStoreKind,
  id: ContenderId,
  name: string,
): readonly Target[] {
  const line = results.recovery?.lines.find((one) => one.store === store);
  if (line === undefined) return [];
  const work = `restart with ${whole(line.overdue)} overdue`;
  const median = (pick: (round: RecoveryLine['rounds'][number]) => number) => medianOf(line.rounds.map(pick));
  const burstCount = Math.max(...results.scale.bursts);
  const burst = burstRate(burstOf(results, id, burstCount))?.median ?? null;
  return [
    judgeTarget(
      work,
      `${name}: ready within ${SERVING_MS_MAX / 1_000} s`,
      [median(({ readyMs }) => readyMs)],
      (ready = 0) => ({ measured: `${whole(ready)} ms`, isMet: ready <= SERVING_MS_MAX }),
    ),
    atLeast(
      work,
      `${name}: drained at ${DRAIN_RATIO_MIN * 100} % of the burst rate or more`,
      median(({ drainedPerSecond }) => drainedPerSecond),
      burst,
      DRAIN_RATIO_MIN,
    ),
    judgeTarget(
      work,
      `${name}: p99 of fresh work within ${FRESH_P99_MS_MAX} ms`,
      [median(({ fresh }) => fresh.p99Ms)],
      (late = 0) => ({ measured: `${milliseconds(late)} ms`, isMet: late <= FRESH_P99_MS_MAX }),
    ),
  ];
}

function contender(results: Results, id: ContenderId): Results['contenders'][number] | undefined {
  return results.contenders.find((one) => one.id === id);
}

function burstOf(results: Results, id: ContenderId, count: number): readonly LatenessRound[] {
  return contender(results, id)?.bursts.find((burst) => burst.count === count)?.rounds ?? [];
}
