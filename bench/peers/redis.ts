/** Starts a Redis server on a socket in a temporary folder. The folder is removed with the server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithProcess } from '../../test/postgres/cleanup.ts';
import { Unavailable } from '../contender.ts';
import { familyCpuMsOf } from '../process-figures.ts';

export interface RedisOptions {
  /** If true, every write is on disk before its answer. If false, nothing is written to disk. */
  readonly isKept: boolean;
  /** Timer checks a second. Redis has 10 by default, and advises at most 100 "where very low latency is required". */
  readonly hz: number;
}

export interface RedisServer extends AsyncDisposable {
  readonly socket: string;
  /** The processor time so far. Null if it is not known. */
  readonly cpuMs: () => number | null;
}

/** On a unix socket Redis writes this line in lower case. */
const READY = /ready to accept connections/i;
const START_MS_MAX = 20_000;

export async function startRedis({ isKept, hz }: RedisOptions): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sched-redis-'));
  const socket = join(folder, 'redis.sock');
  const location = ['--port', '0', '--unixsocket', socket, '--dir', folder];
  const persistence = ['--save', '', '--appendonly', isKept ? 'yes' : 'no', '--appendfsync', 'always'];
  const child = spawn('redis-server', [...location, ...persistence, '--hz', String(hz)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  endWithProcess(child);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    await once(child, 'spawn');
  } catch {
    remove();
    throw new Unavailable('no redis-server is installed');
  }
  const exited = once(child, 'exit');
  const end = async () => {
    child.kill('SIGKILL');
    await exited;
    remove();
  };
  try {
    await ready(child.stdout, exited);
  } catch (error) {
    await end();
    throw error;
  }
  // The output is discarded from here on, because a full pipe would block Redis.
  child.stdout.resume();
  return { socket, cpuMs: () => familyCpuMsOf(child.pid), [Symbol.asyncDispose]: end };
}

async function ready(output: NodeJS.ReadableStream, exited: Promise<unknown>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error('Redis does not become ready.')), START_MS_MAX);
  let text = '';
  output.on('data', (part: Buffer) => {
    text += part.toString();
    if (READY.test(text)) resolve();
  });
  void exited.then(() => reject(new Error(`Redis ended: ${text}`)));
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    output.removeAllListeners('data');
  }
}
