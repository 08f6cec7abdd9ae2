/** A process of the benchmark that is told what to do by messages, and ends when its parent lets go of it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { endWithUs } from '#test/postgres/leftovers.ts';

const END_MS_MAX = 20_000;

/** Log lines are written, as they always are, but nobody on this machine has to read them. */
export function startChild(file: string, args: readonly string[] = []): ChildProcess {
  const child = fork(join(import.meta.dirname, file), args, {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  endWithUs(child);
  return child;
}

/** Its next message; rejects when it ends before, or takes longer. */
export async function messageFrom<M>(child: ChildProcess, withinMs: number): Promise<M> {
  const waiting = new AbortController();
  const signal = AbortSignal.any([waiting.signal, AbortSignal.timeout(withinMs)]);
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`A process of the benchmark ended with exit code ${code}.`);
  });
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), ended])) as [M];
    return message;
  } finally {
    waiting.abort();
    ended.catch(() => undefined);
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
