/** Child processes of the benchmark. They get commands by messages, and end when the parent disconnects. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { endWithProcess } from '../test/postgres/cleanup.ts';

const END_MS_MAX = 20_000;

export interface ChildOptions {
  readonly args?: readonly string[];
  /** The folder for the processor profiles of the child. */
  readonly profileDir?: string | undefined;
  /** The niceness of the process. A nice process gets only the processor time that others leave. */
  readonly niceness?: number;
}

/** Starts a file of this folder. Its standard output is discarded. */
export function startChild(
  file: string,
  { args = [], profileDir, niceness = 0 }: ChildOptions = {},
): ChildProcess {
  const flags = profilingFlags(profileDir);
  // The niceness applies to all threads only if the process starts with it.
  const program =
    niceness === 0
      ? { execArgv: flags }
      : { execPath: 'nice', execArgv: ['-n', String(niceness), process.execPath, ...flags] };
  const child = fork(join(import.meta.dirname, file), args, {
    ...program,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  endWithProcess(child);
  return child;
}

export function profilingFlags(profileDir: string | undefined): string[] {
  return profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
}

/** Resolves with the first message that `pick` accepts. Rejects if `pick` throws, the child ends or time runs out. */
export async function messageFrom<M, T>(
  child: ChildProcess,
  withinMs: number,
  pick: (message: M) => T | undefined,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const onMessage = (message: unknown) => {
    try {
      const picked = pick(message as M);
      if (picked !== undefined) resolve(picked);
    } catch (error) {
      reject(error);
    }
  };
  const onExit = (code: number | null) =>
    reject(new Error(`A process of the benchmark ended with exit code ${code}.`));
  const timer = setTimeout(
    () => reject(new Error(`A process of the benchmark did not answer within ${withinMs} ms.`)),
    withinMs,
  );
  child.on('message', onMessage).on('exit', onExit);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.off('message', onMessage).off('exit', onExit);
  }
}

export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX);
  if (child.connected) child.disconnect();
  await exited;
  clearTimeout(timer);
}
