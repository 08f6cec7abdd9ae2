/** The answer of `npm run capacity`: what a load needs, what breaks first, and what one does then. */
import { UsageError } from '../options.ts';
import type { CapacityOptions } from './command-line.ts';
import type { CostStore, Costs } from './costs.ts';
import { type BrokenLimit, brokenInOrder, FULL_PAGES_FACTOR, type Setting } from './limits.ts';
import { type Needs, needsOf, nodeRate } from './model.ts';
import { bytesText, numberText, rateText } from './words.ts';

export interface Answer {
  readonly store: CostStore;
  readonly needs: Needs;
  /** The highest rate of one node. */
  readonly nodeRate: number;
  /** The limit that breaks first is in front. */
  readonly limits: readonly BrokenLimit[];
  /** Whether no limit is broken. */
  readonly isCarried: boolean;
  /** How many installations of this size share the load, if each has its own customers. Null if none carries any. */
  readonly installations: number | null;
}

export const STORE_NAMES: Readonly<Record<CostStore, string>> = {
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
  citus: 'Citus',
};

export function settingOf(
  costs: Costs,
  store: CostStore,
  options: Omit<CapacityOptions, 'store' | 'json'>,
): Setting {
  const ofStore = costs.stores[store];
  if (ofStore === null) {
    throw new UsageError(
      `The costs on ${STORE_NAMES[store]} were not measured: run npm run bench -- --work costs${store === 'citus' ? `, where SCHED_BENCH_CITUS_URL names a cluster` : ''}.`,
    );
  }
  const { machines, capabilities, given } = options;
  return { store, costs: ofStore, machines, capabilities, given };
}

export function answerOn(costs: Costs, store: CostStore, options: CapacityOptions): Answer {
  const setting = settingOf(costs, store, options);
  const { load, machines } = options;
  const limits = brokenInOrder(setting, load);
  return {
    store,
    needs: needsOf(store, setting.costs, load, machines),
    nodeRate: nodeRate(setting.costs, load, machines),
    limits,
    isCarried: limits.every(({ rate }) => rate >= load.rate),
    installations: installationsFor(load.rate, limits[0]?.rate ?? load.rate),
  };
}

function installationsFor(rate: number, each: number): number | null {
  return each === 0 ? null : Math.max(1, Math.ceil(rate / each));
}

/** Answers for the store that was asked for, or for the smallest one that carries the load. */
export function answerOf(costs: Costs, options: CapacityOptions): Answer {
  if (options.store !== null) return answerOn(costs, options.store, options);
  const measured = (['sqlite', 'postgres', 'citus'] as const).filter((store) => costs.stores[store] !== null);
  const answers = measured.map((store) => answerOn(costs, store, options));
  const largest = answers.at(-1);
  const answer = answers.find(({ isCarried }) => isCarried) ?? largest;
  if (answer === undefined) throw new Error('No costs were measured.');
  return answer;
}

export function answerText(answer: Answer, { load, machines, given }: CapacityOptions): string {
  const { store, needs, limits, isCarried } = answer;
  const coresText = (used: number) =>
    `${numberText(used / machines.load)}, ${Math.round(machines.load * 100)} % busy`;
  const origin = (name: string) => (given.has(name) ? 'given' : 'assumed');
  const rows = [
    ...(store === 'sqlite'
      ? []
      : [['nodes', needs.nodes === null ? 'no number is enough' : numberText(needs.nodes)]]),
    ['cores of all nodes', coresText(needs.nodeCores)],
    ...(needs.databaseCores === null
      ? []
      : [
          [
            store === 'citus' ? 'cores of the coordinator' : 'cores of the database',
            coresText(needs.databaseCores),
          ],
        ]),
    ...(needs.workerCores === null ? [] : [['cores of all workers', coresText(needs.workerCores)]]),
    store === 'sqlite'
      ? ['writes to the disk', `${bytesText(needs.writtenBytesPerSecond)} a second`]
      : ['write-ahead log', `${bytesText(needs.writtenBytesPerSecond * FULL_PAGES_FACTOR)} a second`],
    ...figure('commits', needs.commitsPerSecond),
    ...figure('round trips', needs.roundTripsPerSecond),
    ...(needs.networkBytesPerSecond === null
      ? []
      : [['network of the database', `${bytesText(needs.networkBytesPerSecond)} a second`]]),
    ...(store === 'sqlite' ? [] : [['connections', numberText(needs.connections)]]),
    ['history on the disk', bytesText(needs.diskBytes)],
    ['requests in flight', numberText(needs.inFlight)],
  ];
  const width = Math.max(...rows.map(([name = '']) => name.length));
  const first = limits[0];
  return [
    `${rateText(load.rate)} deliveries a second on ${STORE_NAMES[store]}: ${isCarried ? 'carried' : 'not carried'}`,
    `bodies of ${bytesText(load.bodyBytes)} · ${percent(load.retries)} retries · creates for each delivery: ${numberText(load.creates)} · ` +
      `history of ${numberText(load.retentionSeconds / 3_600)} h · answers in ${numberText(load.answerSeconds * 1_000)} ms`,
    '',
    'It needs',
    ...rows.map(([name = '', value = '']) => `  ${name.padEnd(width)}  ${value}`),
    '',
    'What breaks first, and what one does then',
    ...limits.flatMap(({ what, rate, origin: from, remedy }) => [
      `  ${(rate < load.rate ? '! ' : '  ') + rateText(rate).padStart(13)} a second  ${what} (${from})`,
      ...(rate < load.rate || rate === first?.rate ? [`${' '.repeat(29)}${remedy}`] : []),
    ]),
    '',
    ...(isCarried
      ? []
      : [
          answer.installations === null
            ? 'No number of installations of this size carries it.'
            : `${numberText(answer.installations)} installations of this size, each with its own customers, carry it.`,
        ]),
    `One node carries ${rateText(answer.nodeRate)} a second.`,
    store === 'sqlite'
      ? 'Costs are measured.'
      : `Costs are measured. The database has ${machines.databaseCores} cores (${origin('databaseCores')}).`,
  ].join('\n');
}

function figure(name: string, perSecond: number | null): readonly (readonly string[])[] {
  return perSecond === null ? [] : [[name, `${numberText(perSecond)} a second`]];
}

function percent(share: number): string {
  return `${numberText(share * 100)} %`;
}
