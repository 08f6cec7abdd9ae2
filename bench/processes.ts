/** The processes of a benchmark: what is measured, and what measures it, each on its own. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithUs } from '#test/postgres/leftovers.ts';
import type { LoadOrder, LoadResult } from './load.ts';

const ROOT = join(import.meta.dirname, '..');
export const API_KEY = 'sk_test_benchbenchbenchbenchbenchbench';
/** Linux counts processor time in ticks of 10 ms. */
const TICK_MS = 10;

export interface Server {
  readonly url: string;
  /** Processor time used so far, all threads; null where the system does not tell. */
  cpuMs(): number | null;
  /** Memory in use, in MB; null where the system does not tell. */
  memoryMb(): number | null;
  stop(): Promise<void>;
}

async function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Server> {
  // Log lines are written, as they always are, but nobody on this machine has to read them.
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  endWithUs(child);
  const url = await listening(child);
  return {
    url,
    cpuMs: () => cpuMsOf(child.pid ?? -1),
    memoryMb: () => memoryMbOf(child.pid ?? -1),
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      const url = /listens on (http:\S+)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.on('exit', (code) => reject(new Error(`It ended with exit code ${code}: ${text}`)));
  });
}

/** All threads of a process; null where the system does not tell. */
export function cpuMsOf(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return null;
  }
}

function memoryMbOf(pid: number): number | null {
  try {
    const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes) / 1024;
  } catch {
    return null;
  }
}

export function startBareRoute(): Promise<Server> {
  return start(['bench/bare-route.ts']);
}

export interface ServiceOptions {
  /** Its processor profiles are written there. */
  readonly profileDir?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** So many schedules are stored already, due in a year. */
  readonly pending?: number;
}

/** The real service on a fresh data directory. */
export async function startService({ profileDir, env, pending = 0 }: ServiceOptions = {}): Promise<Server> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sched-bench-'));
  const flags = profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
  const settings = { SCHED_PORT: '0', SCHED_DATA_DIR: dataDir, SCHED_BOOTSTRAP_TEST_KEY: API_KEY, ...env };
  if (pending > 0) await fill(dataDir, settings, pending);
  const server = await start([...flags, 'bin/sched.js', 'serve'], settings);
  return {
    ...server,
    stop: async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function fill(dataDir: string, settings: Readonly<Record<string, string>>, count: number) {
  await (await start(['bin/sched.js', 'serve'], settings)).stop();
  const filling = spawn(process.execPath, ['bench/fill.ts', dataDir, String(count)], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  const [code] = (await once(filling, 'exit')) as [number | null];
  if (code !== 0) throw new Error('The data directory could not be filled.');
}

export interface Loader {
  run(order: LoadOrder): Promise<LoadResult>;
  stop(): void;
}

export function startLoader(): Loader {
  const child = fork(join(import.meta.dirname, 'load.ts'), { execArgv: [] });
  return {
    run: async (order) => {
      child.send(order);
      const [result] = (await once(child, 'message')) as [LoadResult];
      return result;
    },
    stop: () => {
      child.kill();
    },
  };
}
