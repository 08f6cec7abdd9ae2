/** A contender that runs a library in one child process. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endChild, messageFrom, startChild } from '../child.ts';
import type { Contender, Created, Resources, RunningContender } from '../contender.ts';
import { cpuMsOf, memoryMbOf } from '../process-figures.ts';
import type { PeerCommand, PeerMessage } from './protocol.ts';

export interface Peer extends Omit<Contender, 'start'> {
  /** The program of the child process, in this folder. It calls `servePeer`. */
  readonly file: string;
  /** Starts the store, and returns the arguments of the child process. */
  readonly prepare: (resources: Resources) => Promise<PeerResources>;
}

export interface PeerResources extends AsyncDisposable {
  readonly args: readonly string[];
  /** The processor time of the store's processes so far. */
  readonly databaseCpuMs: () => number | null;
}

const START_MS_MAX = 30_000;
const STORE_MS_MAX = 180_000;
/** The time for an answer, in addition to the seconds of the load. */
const CREATE_MS_MAX = 30_000;
const MS_PER_SECOND = 1_000;

export function peer({ file, prepare, ...contender }: Peer): Contender {
  return { ...contender, start: async (given) => startPeer(file, await prepare(given), given.profileDir) };
}

async function startPeer(
  file: string,
  resources: PeerResources,
  profileDir: string | undefined,
): Promise<RunningContender> {
  const child = startChild(`peers/${file}`, { args: resources.args, profileDir });
  const end = async () => {
    await endChild(child);
    await resources[Symbol.asyncDispose]();
  };
  const answer = (withinMs: number) =>
    messageFrom(child, withinMs, (message: PeerMessage): Created | null => {
      if (message.kind === 'failed') throw new Error(message.why);
      return message.created;
    });
  const execute = (command: PeerCommand, withinMs: number) => {
    const answered = answer(withinMs);
    child.send(command);
    return answered;
  };
  try {
    await answer(START_MS_MAX);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    store: async (jobs) => void (await execute({ kind: 'store', jobs }, STORE_MS_MAX)),
    storeRecurring: async (jobs) => void (await execute({ kind: 'recur', jobs }, STORE_MS_MAX)),
    create: async (load) => {
      const created = await execute({ kind: 'create', load }, load.seconds * MS_PER_SECOND + CREATE_MS_MAX);
      if (created === null) throw new Error('The peer did not report its creates.');
      return created;
    },
    cpuMs: () => cpuMsOf(child.pid),
    databaseCpuMs: resources.databaseCpuMs,
    memoryMb: () => memoryMbOf(child.pid),
    [Symbol.asyncDispose]: end,
  };
}

/** The resources of a contender without a store. */
export const NO_RESOURCES: PeerResources = {
  args: [],
  databaseCpuMs: () => 0,
  [Symbol.asyncDispose]: async () => undefined,
};

/** Creates a database, which is dropped afterwards. Its address is the first argument of the process. */
export async function prepareDatabase(
  { postgres, postgresCpuMs: databaseCpuMs }: Resources,
  ...args: readonly string[]
): Promise<PeerResources> {
  const database = await postgres.createDatabase();
  return {
    args: [database.url, ...args],
    databaseCpuMs,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

/** The exact version that the benchmark's own package names. */
export function peerVersion(name: string): string {
  const version = dependencies[name];
  if (version === undefined) throw new Error(`${name} is not a dependency of the benchmark.`);
  return version;
}
