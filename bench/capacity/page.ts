/** Writes docs/capacity.md. All figures are measured costs, or calculated from them by the model. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bulleted, table, wordTable } from '../report/markdown.ts';
import { type Answer, answerOn, STORE_NAMES } from './answer.ts';
import { type CapacityOptions, USUAL_LOAD, USUAL_MACHINES } from './command-line.ts';
import { COST_STORES, type CostPoint, type CostStore, type Costs, type Resource } from './costs.ts';
import { ASSUMED_CAPABILITIES, type BrokenLimit, FULL_PAGES_FACTOR, REASONS } from './limits.ts';
import { burstOf, burstRateOn, highestRate, type Load, needsOf, nodesUse } from './model.ts';
import * as texts from './page-texts.ts';
import { bytesText, numberText, rateText } from './words.ts';

const PAGE_FILE = join(import.meta.dirname, '../../docs/capacity.md');
const RATES = [100, 1_000, 10_000, 100_000, 1_000_000];
const BREAKING_RATES = [10_000, 100_000, 1_000_000];
const DATABASE_CORES = [8, 32, 96];
const SECONDS_PER_DAY = 86_400;
const RETENTION_DAYS = 7;
const LOAD: Load = { ...USUAL_LOAD, retentionSeconds: RETENTION_DAYS * SECONDS_PER_DAY };
const CORES_OF_RATE: Readonly<Record<number, number>> = { 100000: 96, 1000000: 96 };

export function writePage(costs: Costs, file: string = PAGE_FILE): void {
  writeFileSync(file, pageOf(costs));
}

export function pageOf(costs: Costs): string {
  const { processor, cores, postgres, node } = costs.machine;
  return `${[
    '# Capacity',
    '<!-- Written by `npm run bench -- --work costs`: changes are lost with the next run. -->',
    texts.INTRODUCTION,
    `The costs were measured on ${costs.measuredAt.slice(0, 10)}, on ${cores} cores (${processor}), with Node ${node} and PostgreSQL ${postgres}. Everything else on this page is calculated from them, for cores of the same speed.`,
    '```sh\nnpm run capacity -- --rate 50000 --body 2KB --retention 168h\n```',
    texts.YOUR_FIGURES,
    '## Which store, and how many nodes',
    texts.loadSentence(LOAD),
    sizes(costs),
    texts.SIZES,
    '## What breaks first, and what one does then',
    `${texts.BREAKS} ${databaseSizes()}`,
    ...BREAKING_RATES.flatMap((rate) => [`### ${rateText(rate)} deliveries a second`, breaks(costs, rate)]),
    texts.BEYOND,
    '## What a database carries',
    texts.DATABASES,
    databases(costs),
    ...(costs.stores.citus === null ? [texts.NO_CITUS] : []),
    '## What each piece of work costs',
    texts.COSTS,
    ...COST_STORES.flatMap((store) => costTable(costs, store)),
    bulleted(texts.COST_WORDS),
    ...checked(costs),
    '## What is measured, and what is not',
    bulleted(texts.ORIGINS),
    assumptions(),
  ].join('\n\n')}\n`;
}

function optionsFor(rate: number, databaseCores: number): CapacityOptions {
  return {
    load: { ...LOAD, rate },
    machines: { ...USUAL_MACHINES, databaseCores },
    capabilities: ASSUMED_CAPABILITIES,
    store: null,
    given: new Set(['databaseCores']),
    json: false,
  };
}

function databaseSizes(): string {
  const sizes = BREAKING_RATES.map((rate) => `${coresFor(rate)} at ${rateText(rate)} a second`);
  return `The cores of the database: ${sizes.join(', ')}.`;
}

function coresFor(rate: number): number {
  return CORES_OF_RATE[rate] ?? USUAL_MACHINES.databaseCores;
}

/** SQLite has no nodes to add, so it takes part only as far as it carries the load. */
function storesFor(costs: Costs, rate: number): readonly Answer[] {
  const answers = COST_STORES.filter((store) => costs.stores[store] !== null).map((store) =>
    answerOn(costs, store, optionsFor(rate, coresFor(rate))),
  );
  return answers.filter(({ store, needs }) => store !== 'sqlite' || needs.nodes !== null);
}

function sizes(costs: Costs): string {
  const rows = RATES.flatMap((rate) =>
    storesFor(costs, rate).map(({ store, needs, limits, installations }) => [
      rateText(rate),
      STORE_NAMES[store],
      store === 'sqlite'
        ? '1'
        : needs.nodes === null
          ? `${numberText(needs.nodesOfWork)}, too many`
          : numberText(needs.nodes),
      numberText(needs.nodeCores),
      needs.databaseCores === null
        ? ''
        : numberText((needs.databaseCores + (needs.workerCores ?? 0)) / USUAL_MACHINES.load),
      bytesText(needs.writtenBytesPerSecond * (store === 'sqlite' ? 1 : FULL_PAGES_FACTOR)),
      store === 'sqlite' ? '' : numberText(needs.connections),
      bytesText(needs.diskBytes),
      firstBroken(limits, rate),
      installations === null ? 'none' : numberText(installations),
    ]),
  );
  return table(
    [
      'a second',
      'store',
      'nodes',
      'cores they use',
      'database cores',
      'log a second',
      'connections',
      `${RETENTION_DAYS} days of history`,
      'broken limits',
      'installations',
    ],
    rows,
  );
}

function firstBroken(limits: readonly BrokenLimit[], rate: number): string {
  const broken = limits.filter((limit) => limit.rate < rate);
  return broken.length === 0 ? 'none' : broken.map(({ name }) => name).join(', ');
}

/** PostgreSQL and Citus. SQLite ends long before these rates. */
function breaks(costs: Costs, rate: number): string {
  const stores = (['postgres', 'citus'] as const).filter((store) => costs.stores[store] !== null);
  const rows = stores.flatMap((store) =>
    answerOn(costs, store, optionsFor(rate, coresFor(rate)))
      .limits.filter((limit) => limit.rate < rate)
      .map(({ what, rate: at, origin, remedy }) => [
        STORE_NAMES[store],
        what,
        `${rateText(at)} a second`,
        origin,
        remedy,
      ]),
  );
  if (rows.length === 0) return 'Nothing breaks.';
  return wordTable(['store', 'what breaks', 'above', 'its origin', 'what one does then'], rows);
}

function databases(costs: Costs): string {
  const stores = (['postgres', 'citus'] as const).filter((store) => costs.stores[store] !== null);
  const rows = stores.flatMap((store) => DATABASE_CORES.map((cores) => databaseRow(costs, store, cores)));
  return table(['database', 'by its cores alone', 'with everything', 'the limit that breaks first'], rows);
}

function databaseRow(costs: Costs, store: CostStore, cores: number): readonly string[] {
  const { load, machines, ...options } = optionsFor(1, cores);
  const ofStore = costs.stores[store];
  if (ofStore === null) throw new Error(`${store} was not measured.`);
  const byCores = highestRate(load, (each) => {
    const { databaseCores, workerCores } = needsOf(store, ofStore, each, machines);
    const have = cores * machines.load;
    return (databaseCores ?? 0) <= have && (workerCores ?? 0) <= have * machines.workers;
  });
  const [first] = answerOn(costs, store, { ...options, load, machines }).limits;
  const name =
    store === 'citus'
      ? `Citus: a coordinator and ${machines.workers} workers of ${cores} cores each`
      : `PostgreSQL: ${cores} cores`;
  return [name, `${rateText(byCores)} a second`, `${rateText(first?.rate ?? 0)} a second`, first?.what ?? ''];
}

const COLUMNS: readonly (readonly [Resource, string])[] = [
  ['mainMicros', 'main thread µs'],
  ['nodeMicros', 'node µs'],
  ['databaseMicros', 'database µs'],
  ['workerMicros', 'workers µs'],
  ['writtenBytes', 'written bytes'],
  ['commits', 'commits'],
  ['statements', 'statements'],
  ['roundTrips', 'round trips'],
  ['networkBytes', 'network bytes'],
  ['diskBytes', 'disk bytes'],
];

function costTable(costs: Costs, store: CostStore): readonly string[] {
  const ofStore = costs.stores[store];
  if (ofStore === null) return [];
  const columns = COLUMNS.filter(([resource]) => ofStore.points.some(({ each }) => each[resource] !== null));
  const cells = (usage: CostPoint['each']) =>
    columns.map(([resource]) => {
      const value = usage[resource];
      return value === null ? '' : numberText(value);
    });
  const points = ofStore.points.map(({ work, bodyBytes, perSecond, each }) => [
    `${texts.WORK_NAMES[work]}, ${numberText(bodyBytes)} bytes`,
    numberText(perSecond),
    ...cells(each),
  ]);
  return [
    `### ${STORE_NAMES[store]}`,
    table(
      ['work', 'a second', ...columns.map(([, name]) => name)],
      [...points, ['an idle node, each second', '', ...cells(ofStore.idle)]],
    ),
  ];
}

/** What the model says about loads that were measured for this purpose. */
function checked(costs: Costs): readonly string[] {
  const bursts = COST_STORES.flatMap((store) => {
    const ofStore = costs.stores[store];
    const calculated = ofStore === null ? null : burstRateOn(costs.machine.cores, ofStore);
    const measured = ofStore === null ? undefined : burstOf(ofStore.points);
    if (calculated === null || measured === undefined) return [];
    return [comparison(`burst on ${STORE_NAMES[store]}, a second`, calculated, measured.perSecond)];
  });
  const loads = costs.checks.flatMap(({ store, nodes, rate, bodyBytes, used }) => {
    const ofStore = costs.stores[store];
    if (ofStore === null) return [];
    const load = { ...LOAD, rate, bodyBytes, creates: 1, retries: 0, newConnections: 0 };
    const calculated = nodesUse(ofStore, load, nodes);
    return CHECKED.flatMap(([resource, name]) => {
      const [a, b] = [calculated[resource], used[resource]];
      if (a === null || b === null) return [];
      return [comparison(`${name}, ${nodes === 1 ? 'one node' : `${nodes} nodes`}`, a, b)];
    });
  });
  const rows = [...bursts, ...loads];
  if (rows.length === 0) return [];
  return [
    '## Is the model right?',
    texts.checkSentence(costs.checks),
    table(['', 'calculated', 'measured', 'error'], rows),
  ];
}

const CHECKED: readonly (readonly [Resource, string])[] = [
  ['mainMicros', 'main threads, µs a second'],
  ['nodeMicros', 'nodes, µs a second'],
  ['databaseMicros', 'database, µs a second'],
  ['writtenBytes', 'log, bytes a second'],
];

function comparison(name: string, calculated: number, measured: number): readonly string[] {
  const error = Math.round((calculated / measured - 1) * 100);
  return [name, numberText(calculated), numberText(measured), `${error > 0 ? '+' : ''}${error} %`];
}

function assumptions(): string {
  const { walBytesPerSecond, diskBytes, connections, networkBytesPerSecond } = ASSUMED_CAPABILITIES;
  return wordTable(
    ['assumption', 'value', 'reason', 'option'],
    [
      [
        'busy share of a core',
        `${USUAL_MACHINES.load * 100} %`,
        'the rest is for peaks, vacuum and backups',
        '`--load`',
      ],
      [
        'log that one server writes',
        `${bytesText(walBytesPerSecond)} a second`,
        REASONS.walBytesPerSecond,
        '`--wal`',
      ],
      ['data on one server', bytesText(diskBytes), REASONS.diskBytes, '`--disk`'],
      ['connections of one server', numberText(connections), REASONS.connections, '`--connections`'],
      [
        'traffic of one server',
        `${bytesText(networkBytesPerSecond)} a second`,
        REASONS.networkBytesPerSecond,
        '`--network`',
      ],
      [
        'log for whole pages',
        `${FULL_PAGES_FACTOR} times the measured log`,
        'after a checkpoint, the first change of a page writes the whole page',
        'none',
      ],
    ],
  );
}
