/** The section about the workload `neighbour`: a table for each store, and the bars. */
import type { Beside, Hostile } from '../neighbour/customers.ts';
import type {
  NeighbourLine,
  NeighbourRound,
  NeighbourScale,
  Results,
  SchedStoreKind,
  SchedVersion,
} from '../results.ts';
import type { Bar } from './bar.ts';
import { known, medianOf, milliseconds, NOTHING, spread, whole } from './figures.ts';
import { plain, table } from './markdown.ts';

export const NEIGHBOUR_STORES: Readonly<Record<SchedStoreKind, string>> = {
  sqlite: 'SQLite',
  postgres: 'Two nodes on PostgreSQL',
};

const WHO: Readonly<Record<Beside, string>> = {
  alone: 'alone',
  'hanging-bodies': 'large bodies to endpoints that hang',
  'large-json': 'large JSON bodies at one instant',
  paths: 'paths of one host that hangs',
  filters: 'filters that find nothing',
  creates: 'storms of large creates',
  burst: 'deliveries at one millisecond',
  cancel: 'a cancel with many retries',
  lists: 'endless lists',
  all: 'all of them at once',
};

/** These customers use all processors. The others leave processor time. */
const FILLING: ReadonlySet<Beside> = new Set(['burst', 'creates', 'all']);
const IDLE_P99_MS_MORE_MAX = 20;
const IDLE_P999_MS_MAX = 300;
const FILLED_P99_MS_MAX: Readonly<Record<SchedStoreKind, number>> = { sqlite: 100, postgres: 150 };
const FILLED_P999_MS_MAX = 500;
const MEMORY_MB_MAX = 1_000;

export function neighbourWords({ rate, sizes }: NeighbourScale): string {
  const size = (customer: Hostile) => whole(sizes[customer]);
  return `A healthy customer has ${rate} small deliveries a second to a few endpoints that answer. It is measured alone, then beside each hostile customer in turn, then beside all of them. Each hostile customer has its own project, key and receiver:

- ${size('hanging-bodies')} bodies of 768 KB to six endpoints that hang
- ${size('large-json')} JSON bodies of 256 KB due at one instant, again every few seconds
- ${size('paths')} paths of one host that hangs
- filters that find nothing among ${size('filters')} schedules, by eight clients
- ${size('creates')} creates of 768 KB at a time, one after the other
- ${size('burst')} deliveries due at one millisecond
- the cancel of a schedule with ${size('cancel')} waiting retries
- every page of every list among ${size('lists')} schedules, by four clients

Load generators and hostile receivers get only the processor time that others leave. *Missing* counts deliveries of the healthy customer that had not arrived a minute after the last one was due. Quantiles are those of the deliveries that had arrived. *Still waiting* counts deliveries that the store had yet to send then: they are late, not lost. *Doubled* counts deliveries that arrived again. *Interrupted* counts interrupted attempts of any customer. These counts are sums of all rounds. *Event loop* is the longest time that one piece of work blocked an event loop. *Peak MB* is the most memory that each process used at one time.`;
}

export function neighbourTable({ neighbour }: Results, store: SchedStoreKind): string {
  const lines = (neighbour?.lines ?? []).filter((line) => line.store === store);
  if (lines.length === 0) return '';
  return table(
    [
      NEIGHBOUR_STORES[store],
      'p50 ms',
      'p99 ms',
      'p99.9 ms',
      'max ms',
      'missing',
      'still waiting',
      'doubled',
      'slots lost',
      'interrupted',
      'event loop max ms',
      'peak MB',
      'hostile requests',
    ],
    lines.map(({ beside, version, rounds }) => [
      plain(nameOf(beside, version)),
      spread(rounds, ({ healthy }) => healthy.p50Ms, milliseconds),
      spread(rounds, ({ healthy }) => healthy.p99Ms, milliseconds),
      spread(rounds, ({ healthy }) => healthy.p999Ms, milliseconds),
      spread(rounds, ({ healthy }) => healthy.maxMs, milliseconds),
      whole(sum(rounds, missing)),
      whole(sum(rounds, ({ waiting }) => waiting)),
      whole(sum(rounds, ({ healthy }) => healthy.repeated)),
      store === 'sqlite' ? NOTHING : whole(sum(rounds, ({ slotsLost }) => slotsLost ?? 0)),
      whole(sum(rounds, ({ interrupted }) => interrupted)),
      spread(rounds, ({ eventLoopDelayMaxMs }) => eventLoopDelayMaxMs, milliseconds),
      memoryOfEach(rounds),
      spread(rounds, ({ hostileRequests }) => total(Object.values(hostileRequests)), whole),
    ]),
  );
}

export function nameOf(beside: Beside, version: SchedVersion): string {
  return version === 'baseline' ? `${WHO[beside]}, baseline` : WHO[beside];
}

export function memoryOfEach(rounds: readonly NeighbourRound[]): string {
  const nodes = Math.max(...rounds.map(({ peakMemoryMb }) => peakMemoryMb.length));
  return Array.from({ length: nodes }, (_, node) =>
    spread(rounds, ({ peakMemoryMb }) => peakMemoryMb[node] ?? null, whole),
  ).join(' / ');
}

function missing({ healthy }: NeighbourRound): number {
  return healthy.expected - healthy.arrived;
}

function sum(rounds: readonly NeighbourRound[], pick: (round: NeighbourRound) => number): number {
  return total(rounds.map(pick));
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** The bars apply to this version only, and not to a baseline. */
export function neighbourBars({ neighbour }: Results, store: SchedStoreKind): readonly Bar[] {
  const lines = (neighbour?.lines ?? []).filter((line) => line.store === store && line.version === 'this');
  const alone = lines.find(({ beside }) => beside === 'alone');
  const hostile = lines.filter(({ beside }) => beside !== 'alone');
  if (hostile.length === 0) return [];
  const idle = hostile.filter(({ beside }) => !FILLING.has(beside));
  const filled = hostile.filter(({ beside }) => FILLING.has(beside));
  const aloneMs = alone === undefined ? null : p99Of(alone);
  const filledMsMax = FILLED_P99_MS_MAX[store];
  const asked = (text: string) => `${NEIGHBOUR_STORES[store]}: ${text}`;
  return [
    worst(
      asked(`p99 within ${IDLE_P99_MS_MORE_MAX} ms of alone where processors are left idle`),
      idle,
      p99Of,
      'ms',
      aloneMs === null ? null : aloneMs + IDLE_P99_MS_MORE_MAX,
    ),
    worst(asked(`p99.9 under ${IDLE_P999_MS_MAX} ms there`), idle, p999Of, 'ms', IDLE_P999_MS_MAX),
    worst(asked(`p99 under ${filledMsMax} ms where all are busy`), filled, p99Of, 'ms', filledMsMax),
    worst(asked(`p99.9 under ${FILLED_P999_MS_MAX} ms there`), filled, p999Of, 'ms', FILLED_P999_MS_MAX),
    worst(asked('none missing, none doubled, no slot lost'), lines, faultsOf, 'of these', 0),
    worst(
      asked(`memory of each node under ${whole(MEMORY_MB_MAX)} MB`),
      lines,
      memoryOf,
      'MB',
      MEMORY_MB_MAX,
    ),
  ];
}

/** The line with the largest figure decides. If a line has no figure, the bar is not measured. */
function worst(
  asked: string,
  lines: readonly NeighbourLine[],
  figureOf: (line: NeighbourLine) => number | null,
  unit: string,
  max: number | null,
): Bar {
  const work = 'neighbours';
  const figures = lines.map((line) => ({ name: WHO[line.beside], figure: figureOf(line) }));
  const largest = Math.max(...known(figures.map(({ figure }) => figure)));
  const one = figures.find(({ figure }) => figure === largest);
  if (max === null || one === undefined || figures.some(({ figure }) => figure === null)) {
    return { work, asked, measured: 'not measured', verdict: 'not measured' };
  }
  return {
    work,
    asked,
    measured: `${milliseconds(largest)} ${unit} (${one.name})`,
    verdict: largest <= max ? 'met' : 'missed',
  };
}

function p99Of({ rounds }: NeighbourLine): number | null {
  return medianOf(rounds.map(({ healthy }) => healthy.p99Ms));
}

function p999Of({ rounds }: NeighbourLine): number | null {
  return medianOf(rounds.map(({ healthy }) => healthy.p999Ms));
}

/** The faults of all rounds together. The bar allows none. */
function faultsOf({ rounds }: NeighbourLine): number {
  return sum(rounds, (round) => missing(round) + round.healthy.repeated + (round.slotsLost ?? 0));
}

/** The peak memory of any node in any round. Null if it is not known. */
function memoryOf({ rounds }: NeighbourLine): number | null {
  const figures = rounds.flatMap(({ peakMemoryMb }) => peakMemoryMb);
  return figures.some((one) => one === null) ? null : Math.max(...known(figures));
}
