/** The processes of a benchmark: what is measured, and what measures it, each on its own. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadOrder, LoadResult } from './load.ts';

const ROOT = join(import.meta.dirname, '..');
export const API_KEY = 'sk_test_benchbenchbenchbenchbenchbench';
/** Linux counts processor time in ticks of 10 ms. */
const TICK_MS = 10;

export interface Server {
  readonly url: string;
  /** Processor time used so far, all threads; null where the system does not tell. */
  cpuMs(): number | null;
  stop(): Promise<void>;
}

async function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Server> {
  // Log lines are written, as they always are, but nobody on this machine has to read them.
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const url = await listening(child);
  return {
    url,
    cpuMs: () => cpuMsOf(child.pid ?? -1),
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

function cpuMsOf(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return null;
  }
}

export function startBareRoute(): Promise<Server> {
  return start(['bench/bare-route.ts']);
}

/** The real service on a fresh data directory. With `profileDir`, its processor profiles are written there. */
export async function startService(profileDir: string | null): Promise<Server> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sched-bench-'));
  const flags = profileDir === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
  const env = { SCHED_PORT: '0', SCHED_DATA_DIR: dataDir, SCHED_BOOTSTRAP_TEST_KEY: API_KEY };
  const server = await start([...flags, 'src/cli/main.ts', 'serve'], env);
  return {
    ...server,
    stop: async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
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
