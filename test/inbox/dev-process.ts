/**
 * Runs `sched dev` as its own process on a free port, for tests of signals, exits and real streams. Other tests use
 * `dev-in-thread.ts`, which costs less.
 *
 *     await using dev = await startDev();
 *     await dev.create({ endpoint: `${dev.hook}/one`, delay: '1s' });
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { atEndOfRun } from '#test/end-of-run.ts';
import { type Exit, temporaryDirectory } from '#test/process/sched-process.ts';
import { callsTo, type RunningDev } from './dev-in-thread.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'bin/sched.js');
/** Matches the whole greeting, up to its last line. */
const READY = /^Sched listens on (http:\/\/\S+)$[\s\S]*Ctrl-C/m;
const WAIT_MS_MAX = 60_000;

export interface DevOptions {
  /** The default is the program of the checkout. */
  readonly program?: string;
  readonly cwd?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface DevProcess extends RunningDev {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Waits until standard output matches the pattern. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  signal(signal: NodeJS.Signals): void;
}

const running = new Set<ChildProcess>();
atEndOfRun(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts the process without waiting for it to listen. */
export function launchDev({ program = MAIN, cwd = ROOT, args = [], env = {} }: DevOptions = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SCHED_'));
  const child = spawn(process.execPath, [program, 'dev', '--port', '0', ...args], {
    cwd,
    // The data directory is created there, and stays if the process is killed.
    env: { ...Object.fromEntries(inherited), TMPDIR: temporaryDirectory(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const exited = once(child, 'close').then((): Exit => {
    running.delete(child);
    return { code: child.exitCode, signal: child.signalCode };
  });
  return { child, output, exited };
}

export async function startDev(options: DevOptions = {}): Promise<DevProcess> {
  const { child, output, exited } = launchDev(options);
  const waitForOutput = async (pattern: RegExp) => {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const check = () => {
      const found = pattern.exec(output.stdout);
      if (found !== null) resolve(found);
    };
    const fail = (why: string) => reject(new Error(`${why} ${pattern}\n${output.stdout}${output.stderr}`));
    const timer = setTimeout(() => fail('Timed out waiting for'), WAIT_MS_MAX);
    child.stdout.on('data', check);
    exited.then(() => fail('The process ended before it wrote'), reject);
    check();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      child.stdout.off('data', check);
    }
  };
  const end = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  const [, url = ''] = await waitForOutput(READY).catch(async (error: unknown) => {
    await end();
    throw error;
  });
  return {
    ...callsTo(url),
    pid: child.pid ?? -1,
    output,
    exited,
    waitForOutput,
    signal: (signal) => void child.kill(signal),
    [Symbol.asyncDispose]: end,
  };
}
