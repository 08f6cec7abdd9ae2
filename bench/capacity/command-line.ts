/** The command line of `npm run capacity`. */
import { parseArgs } from 'node:util';
import { parseDuration } from '../../src/domain/duration.ts';
import { UsageError } from '../options.ts';
import { COST_STORES, type CostStore } from './costs.ts';
import { ASSUMED_CAPABILITIES, type Capabilities, TB } from './limits.ts';
import type { Load, Machines } from './model.ts';

export const CAPACITY_USAGE = `npm run capacity -- --rate 50000 [--body 2KB] [--retention 168h] [OPTION…]

  The load:
  --rate             deliveries in a second
  --body             size of a body (1KB)
  --retention        how long history is kept, as SCHED_RETENTION (2160h)
  --retries          retries for each delivery (5%)
  --creates          creates for each delivery; 0 if all schedules are recurring (1)
  --answer           how long receivers take to answer (100ms)
  --new-connections  requests that need a new connection to their host (5%)

  The machines:
  --store            ${COST_STORES.join(', ')} (the smallest that carries the load)
  --database-cores   cores of the database, or of each server of a Citus cluster (32)
  --workers          workers of a Citus cluster (8)
  --load             how busy a core may be (60%)
  --core-speed       speed of a core, compared with the machine of the measurement (1)
  --wal              write-ahead log that one server writes in a second (400MB)
  --disk             data on one server (16TB)
  --connections      connections of one server (2000)
  --network          traffic of one server in a second (1250MB)

  --json             prints the answer as JSON
  --page             writes docs/capacity.md instead, with its own loads
  --help             prints this`;

export interface CapacityOptions {
  readonly load: Load;
  readonly machines: Machines;
  readonly capabilities: Capabilities;
  /** Null chooses the smallest store that carries the load. */
  readonly store: CostStore | null;
  /** The names of machine figures and capabilities that were given. */
  readonly given: ReadonlySet<string>;
  readonly json: boolean;
}

export type CapacityCommand =
  | { readonly kind: 'help' }
  | { readonly kind: 'page' }
  | { readonly kind: 'answer'; readonly options: CapacityOptions };

export const USUAL_LOAD: Load = {
  rate: 0,
  bodyBytes: 1_000,
  retries: 0.05,
  creates: 1,
  newConnections: 0.05,
  answerSeconds: 0.1,
  retentionSeconds: 2_160 * 3_600,
};

export const USUAL_MACHINES: Machines = { databaseCores: 32, workers: 8, load: 0.6, coreSpeed: 1 };

const RATE_MAX = 1e8;
const CORES_MAX = 4_096;
const BODY_BYTES_MAX = 262_144;
const NANOS_PER_SECOND = 1e9;
const ATTEMPTS_MAX = 50;
const BYTES: Readonly<Record<string, number>> = { '': 1, B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean', default: false } as const;
const FLAGS = { json: FLAG, page: FLAG, help: FLAG };

type Parse = (text: string, name: string) => number;

/** The options that are numbers, by the figure that they set. */
const LOAD_OPTIONS: Readonly<Record<keyof Load, readonly [name: string, parse: Parse]>> = {
  rate: ['rate', number({ above: 0, max: RATE_MAX })],
  bodyBytes: ['body', bytes({ max: BODY_BYTES_MAX })],
  retentionSeconds: ['retention', seconds({ above: 0 })],
  retries: ['retries', number({ max: ATTEMPTS_MAX - 1 })],
  creates: ['creates', number({ max: 100 })],
  answerSeconds: ['answer', seconds({})],
  newConnections: ['new-connections', number({ max: 1 })],
};
const MACHINE_OPTIONS: Readonly<Record<keyof Machines, readonly [name: string, parse: Parse]>> = {
  databaseCores: ['database-cores', number({ above: 0, max: CORES_MAX })],
  workers: ['workers', number({ above: 0, max: CORES_MAX })],
  load: ['load', number({ above: 0, max: 1 })],
  coreSpeed: ['core-speed', number({ above: 0, max: 100 })],
};
const CAPABILITY_OPTIONS: Readonly<Record<keyof Capabilities, readonly [name: string, parse: Parse]>> = {
  walBytesPerSecond: ['wal', bytes({ above: 0, max: TB })],
  diskBytes: ['disk', bytes({ above: 0, max: 1e6 * TB })],
  connections: ['connections', number({ above: 0, max: 1e6 })],
  networkBytesPerSecond: ['network', bytes({ above: 0, max: TB })],
};

export function capacityCommandOf(args: readonly string[]): CapacityCommand {
  const values = parsed(args);
  if (values.help === true) return { kind: 'help' };
  if (values.page === true) return { kind: 'page' };
  if (values.rate === undefined) {
    throw new UsageError('--rate is missing: how many deliveries are there in a second?');
  }
  const given = new Set<string>();
  const filled = <T extends object>(
    options: Readonly<Record<keyof T & string, readonly [string, Parse]>>,
    usual: T,
  ): T => {
    const set = (Object.keys(options) as (keyof T & string)[]).flatMap((figure) => {
      const [name, parse] = options[figure];
      const text = values[name];
      if (typeof text !== 'string') return [];
      given.add(figure);
      return [[figure, parse(text, name)] as const];
    });
    return { ...usual, ...Object.fromEntries(set) };
  };
  const load = filled(LOAD_OPTIONS, USUAL_LOAD);
  const machines = filled(MACHINE_OPTIONS, USUAL_MACHINES);
  const capabilities = filled(CAPABILITY_OPTIONS, ASSUMED_CAPABILITIES);
  const store = typeof values.store === 'string' ? storeNamed(values.store) : null;
  return {
    kind: 'answer',
    options: { load, machines, capabilities, store, given, json: values.json === true },
  };
}

function parsed(args: readonly string[]): Readonly<Record<string, string | boolean | undefined>> {
  const all = [LOAD_OPTIONS, MACHINE_OPTIONS, CAPABILITY_OPTIONS].flatMap((options) =>
    Object.values(options),
  );
  const texts = Object.fromEntries([...all.map(([name]) => name), 'store'].map((name) => [name, TEXT]));
  try {
    return parseArgs({ args: [...args], options: { ...texts, ...FLAGS } }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

interface Bounds {
  /** The number must be larger than this. The default allows 0 and more. */
  readonly above?: number;
  readonly max?: number;
}

function isWithin(value: number, { above, max = Number.POSITIVE_INFINITY }: Bounds): boolean {
  return (above === undefined ? value >= 0 : value > above) && value <= max;
}

function words({ above, max }: Bounds): string {
  const from = above === undefined ? 'of at least 0' : `above ${above}`;
  return max === undefined ? from : `${from} and at most ${max}`;
}

/** A number, or a percentage. */
function number(bounds: Bounds): Parse {
  return (text, name) => {
    const [, digits, percent] = /^(\d[\d,_]*(?:\.\d+)?|\.\d+)(%?)$/.exec(text.trim()) ?? [];
    const value = Number(digits?.replaceAll(/[,_]/g, '')) / (percent === '%' ? 100 : 1);
    if (isWithin(value, bounds)) return value;
    throw new UsageError(`--${name} must be a number ${words(bounds)}, not "${text}".`);
  };
}

function bytes(bounds: Bounds): Parse {
  return (text, name) => {
    const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)\s*([KMGT]?B|)$/i.exec(text.trim()) ?? [];
    const value = Number(digits) * (BYTES[unit.toUpperCase()] ?? Number.NaN);
    if (isWithin(value, bounds)) return value;
    throw new UsageError(`--${name} must be a size ${words(bounds)} bytes, such as 2KB, not "${text}".`);
  };
}

function seconds(bounds: Bounds): Parse {
  return (text, name) => {
    const nanoseconds = parseDuration(text.trim());
    const value = nanoseconds === null ? Number.NaN : Number(nanoseconds) / NANOS_PER_SECOND;
    if (isWithin(value, bounds)) return value;
    throw new UsageError(
      `--${name} must be a duration ${words(bounds)}, such as 168h or 100ms, not "${text}".`,
    );
  };
}

function storeNamed(text: string): CostStore {
  const store = COST_STORES.find((one) => one === text);
  if (store === undefined)
    throw new UsageError(`--store: "${text}" is not one of ${COST_STORES.join(', ')}.`);
  return store;
}
