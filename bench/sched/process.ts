/** Starts a server process, and waits until it prints its address. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { endWithProcess } from '../../test/postgres/cleanup.ts';
import { cpuMsOf, memoryMbOf, peakMemoryMbOf } from '../process-figures.ts';

/** The checkout that this file belongs to. */
export const ROOT = join(import.meta.dirname, '../..');
const LISTEN_MS_MAX = 60_000;
const END_MS_MAX = 40_000;
const COMPLAINT_CHARACTERS_MAX = 1_000;

export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** The time from the start of the process until it listens. */
  readonly startedInMs: number;
  cpuMs(): number | null;
  memoryMb(): number | null;
  /** The largest memory use since the start. */
  peakMemoryMb(): number | null;
}

export async function startServer(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd: string = ROOT,
): Promise<ServerProcess> {
  const start = performance.now();
  // The service writes its log lines as usual. This process discards them.
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithProcess(child);
  const end = () => endOf(child);
  const url = await listening(child).catch(async (error: unknown) => {
    await end();
    throw error;
  });
  return {
    url,
    pid: child.pid ?? Number.NaN,
    startedInMs: performance.now() - start,
    cpuMs: () => cpuMsOf(child.pid),
    memoryMb: () => memoryMbOf(child.pid),
    peakMemoryMb: () => peakMemoryMbOf(child.pid),
    [Symbol.asyncDispose]: end,
  };
}

async function listening(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  let complaint = '';
  const fail = (why: string) => reject(new Error(`A server ${why}. ${complaint || text}`.trim()));
  child.once('exit', (code) => fail(`ended with exit code ${code}`));
  const timer = setTimeout(() => fail('does not listen'), LISTEN_MS_MAX);
  child.stderr?.on('data', (part: Buffer) => {
    complaint = (complaint + part.toString()).slice(-COMPLAINT_CHARACTERS_MAX);
  });
  child.stdout?.on('data', (part: Buffer) => {
    if (text.includes('listens on')) return;
    text += part.toString();
    const url = /listens on (http:\S+)/.exec(text)?.[1];
    if (url !== undefined) resolve(url);
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX);
  child.kill('SIGTERM');
  await exited;
  clearTimeout(timer);
}
