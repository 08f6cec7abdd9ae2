/** A contender that is one process of the benchmark's own, around a library: as its parent sees it. */
import { endChild, messageFrom, startChild } from '../child.ts';
import type { Contender, Created, Ground, RunningContender } from '../contender.ts';
import { cpuMsOf, memoryMbOf } from '../process-figures.ts';
import type { PeerMessage, PeerOrder } from './protocol.ts';

export interface Peer extends Omit<Contender, 'start'> {
  /** In this folder: it calls `servePeer`. */
  readonly file: string;
  /** Starts the store it needs, and says what its process is called with. */
  readonly ground: (ground: Ground) => Promise<PeerGround>;
}

export interface PeerGround extends AsyncDisposable {
  readonly args: readonly string[];
}

const START_MS_MAX = 30_000;
const STORE_MS_MAX = 180_000;
/** Beside the seconds that were asked for. */
const CREATE_MS_MAX = 30_000;
const MS_PER_SECOND = 1_000;

export function peer({ file, ground, ...contender }: Peer): Contender {
  return { ...contender, start: async (given) => startPeer(file, await ground(given), given.profileDir) };
}

async function startPeer(
  file: string,
  ground: PeerGround,
  profileDir: string | undefined,
): Promise<RunningContender> {
  const child = startChild(`peers/${file}`, { args: ground.args, profileDir });
  const end = async () => {
    await endChild(child);
    await ground[Symbol.asyncDispose]();
  };
  const answer = (withinMs: number) =>
    messageFrom(child, withinMs, (message: PeerMessage): Created | null => {
      if (message.kind === 'failed') throw new Error(message.why);
      return message.created;
    });
  const tell = (order: PeerOrder, withinMs: number) => {
    const answered = answer(withinMs);
    child.send(order);
    return answered;
  };
  try {
    await answer(START_MS_MAX);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    store: async (orders) => void (await tell({ kind: 'store', orders }, STORE_MS_MAX)),
    storeRecurring: async (orders) => void (await tell({ kind: 'recur', orders }, STORE_MS_MAX)),
    create: async (load) => {
      const created = await tell({ kind: 'create', load }, load.seconds * MS_PER_SECOND + CREATE_MS_MAX);
      if (created === null) throw new Error('It does not say what it created.');
      return created;
    },
    cpuMs: () => cpuMsOf(child.pid),
    memoryMb: () => memoryMbOf(child.pid),
    [Symbol.asyncDispose]: end,
  };
}

/** For a contender that keeps nothing. */
export const NO_GROUND: PeerGround = { args: [], [Symbol.asyncDispose]: async () => undefined };

/** A fresh database, dropped afterwards; its address is what the process is called with first. */
export async function databaseGround({ postgres }: Ground, ...args: readonly string[]): Promise<PeerGround> {
  const database = await postgres.createDatabase();
  return { args: [database.url, ...args], [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}
