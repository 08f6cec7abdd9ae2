/**
 * The project's own bars. Each compares medians of one run. A bar without measurements is neither met nor missed. A bar
 * against several peers is met only if all of them were measured. Peers have the settings of their documentation.
 * Settings that only an expert would find have a separate bar. ADR 028 has the reasons for the numbers.
 */
import { CONTENDER_IDS, type ContenderId } from '../contender.ts';
import type { LatenessRound, RecoveryLine, Results, SchedStoreKind, StoredLine } from '../results.ts';
import { asGoal, atLeast, type Bar, judge, under, unlessMissing, within } from './bar.ts';
import { citusBars } from './citus.ts';
import {
  burstRate,
  type CostlyRound,
  known,
  medianOf,
  milliseconds,
  perCore,
  ratio,
  whole,
} from './figures.ts';
import { neighbourBars } from './neighbour.ts';
import { packageBars } from './package.ts';
import { startBars } from './start.ts';

/** Contenders that are not peers with documented settings. */
const OTHERS: ReadonlySet<ContenderId> = new Set(['limit', 'bare-route', 'bullmq-hz']);
const PEERS = CONTENDER_IDS.filter((id) => !OTHERS.has(id) && !id.startsWith('sched-'));
const STORES: readonly (readonly [SchedStoreKind, string])[] = [
  ['sqlite', 'SQLite'],
  ['postgres', 'PostgreSQL'],
];
const MORE_STORED_RATIO = 0.2;
const MEMORY_MB_MORE_MAX = 100;
const SERVING_MS_MAX = 2_000;
const DRAIN_RATIO_MIN = 0.5;
/** The stricter end of the specification's 100 to 300 ms. */
const FRESH_P99_MS_MAX = 100;

export function barsOf(results: Results): readonly Bar[] {
  return [
    ...pacedBars(results),
    ...results.scale.bursts.flatMap((count) => burstBars(results, count)),
    ...createBars(results),
    ...STORES.flatMap(([store, name]) => storedBars(results, store, name)),
    ...STORES.flatMap(([store, name]) => recoveryBars(results, store, name)),
    ...citusBars(results),
    ...STORES.flatMap(([store]) => neighbourBars(results, store)),
    ...startBars(results),
    ...packageBars(results),
  ];
}

/** Adds the figures for each second of processor time: those of Sched, and those it is compared with. */
function withPerCore(bar: Bar, mine: readonly CostlyRound[], theirs: readonly CostlyRound[]): Bar {
  const [ours, other] = [perCore(mine), perCore(theirs)];
  if (ours === null) return bar;
  return { ...bar, perCore: `${whole(ours)}${other === null ? '' : ` against ${whole(other)}`} per core` };
}

function pacedBars(results: Results): readonly Bar[] {
  const { rate } = results.scale.paced;
  const work = `${rate} a second`;
  const rounds = (id: ContenderId) => contender(results, id)?.paced ?? [];
  const at = (id: ContenderId, quantile: 'p50Ms' | 'p99Ms') =>
    medianOf(rounds(id).map((round) => round[quantile]));
  const nearLimit = (asked: string, id: ContenderId, quantile: 'p50Ms' | 'p99Ms', moreMax: number) =>
    withPerCore(
      within(work, asked, at(id, quantile), at('limit', quantile), moreMax),
      rounds(id),
      rounds('limit'),
    );
  const better = (asked: string, ids: readonly ContenderId[]) => {
    const peers = ids
      .map((id) => ({ rounds: rounds(id), p99Ms: at(id, 'p99Ms') ?? Number.POSITIVE_INFINITY }))
      .filter((peer) => peer.rounds.length > 0)
      .toSorted((a, b) => a.p99Ms - b.p99Ms);
    const [best] = peers;
    const judged = judge(
      work,
      asked,
      [at('sched-sqlite', 'p99Ms'), best?.p99Ms ?? null],
      (ours = 0, theirs = 0) => ({
        measured: `${milliseconds(ours)} against ${milliseconds(theirs)} ms: ${ratio(theirs / ours)} times`,
        isMet: theirs / ours >= 5,
      }),
    );
    const bar = unlessMissing(peers.length === ids.length, judged);
    return withPerCore(bar, rounds('sched-sqlite'), best?.rounds ?? []);
  };
  return [
    nearLimit('SQLite: p50 within 1 ms of the limit', 'sched-sqlite', 'p50Ms', 1),
    nearLimit('SQLite: p99 within 10 ms of the limit', 'sched-sqlite', 'p99Ms', 10),
    nearLimit('PostgreSQL: p99 within 10 ms of the limit', 'sched-postgres', 'p99Ms', 10),
    better('SQLite: p99 at least 5 times better than the best peer', PEERS),
    better('SQLite: p99 at least 5 times better than BullMQ on a Redis with hz 100', ['bullmq-hz']),
  ];
}

function burstBars(results: Results, count: number): readonly Bar[] {
  const work = `${whole(count)} at once`;
  const rate = (rounds: readonly LatenessRound[]) => burstRate(rounds)?.median ?? null;
  const compared = (asked: string, mine: ContenderId, theirs: ContenderId, ratioMin: number) => {
    const [ours, other] = [burstOf(results, mine, count), burstOf(results, theirs, count)];
    return withPerCore(atLeast(work, asked, rate(ours), rate(other), ratioMin), ours, other);
  };
  return [
    compared('SQLite: at least 0.60 of the limit', 'sched-sqlite', 'limit', 0.6),
    compared('SQLite: ahead of BullMQ without persistence', 'sched-sqlite', 'bullmq', 1),
    compared('PostgreSQL: at least 0.40 of the limit', 'sched-postgres', 'limit', 0.4),
    compared('PostgreSQL: at least twice graphile-worker', 'sched-postgres', 'graphile', 2),
    asGoal(
      compared(
        'PostgreSQL: 0.8 of graphile-worker with its batches',
        'sched-postgres',
        'graphile-batches',
        0.8,
      ),
    ),
  ];
}

function createBars(results: Results): readonly Bar[] {
  const rounds = (id: ContenderId) => contender(results, id)?.creates ?? [];
  const rate = (id: ContenderId) => medianOf(rounds(id).map(({ perSecond }) => perSecond));
  const ofBare = (asked: string, id: ContenderId, ratioMin: number) =>
    withPerCore(
      atLeast('creates', asked, rate(id), rate('bare-route'), ratioMin),
      rounds(id),
      rounds('bare-route'),
    );
  return [
    ofBare('SQLite: at least 0.40 of the bare route', 'sched-sqlite', 0.4),
    ofBare('PostgreSQL: at least 0.25 of the bare route', 'sched-postgres', 0.25),
  ];
}

function storedBars({ stored, scale }: Results, store: SchedStoreKind, name: string): readonly Bar[] {
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
    judge(
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
    judge(
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

function recoveryBars({ recovery }: Results, store: SchedStoreKind, name: string): readonly Bar[] {
  const line = recovery?.lines.find((one) => one.store === store);
  if (line === undefined) return [];
  const bareClient = recovery?.bareClient ?? [];
  const work = `restart with ${whole(line.overdue)} overdue`;
  const median = (pick: (round: RecoveryLine['rounds'][number]) => number) => medianOf(line.rounds.map(pick));
  return [
    judge(
      work,
      `${name}: ready within ${SERVING_MS_MAX / 1_000} s`,
      [median(({ readyMs }) => readyMs)],
      (ready = 0) => ({ measured: `${whole(ready)} ms`, isMet: ready <= SERVING_MS_MAX }),
    ),
    withPerCore(
      atLeast(
        work,
        `${name}: drained at ${DRAIN_RATIO_MIN} of the rate of a bare client that starts anew`,
        median(({ drainedPerSecond }) => drainedPerSecond),
        medianOf(bareClient.map(({ perSecond }) => perSecond)),
        DRAIN_RATIO_MIN,
      ),
      line.rounds,
      bareClient,
    ),
    withPerCore(
      under(
        work,
        `${name}: p99 of fresh work under ${FRESH_P99_MS_MAX} ms`,
        median(({ fresh }) => fresh.p99Ms),
        FRESH_P99_MS_MAX,
      ),
      line.rounds,
      bareClient,
    ),
  ];
}

function contender(results: Results, id: ContenderId): Results['contenders'][number] | undefined {
  return results.contenders.find((one) => one.id === id);
}

function burstOf(results: Results, id: ContenderId, count: number): readonly LatenessRound[] {
  return contender(results, id)?.bursts.find((burst) => burst.count === count)?.rounds ?? [];
}
