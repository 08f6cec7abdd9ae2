/**
 * Runs the command line as scripts and people do: through pipes, with or without standard input, and in a
 * pseudo-terminal of a given width, where a test can press keys.
 *
 * Commands inherit nothing from the environment of the tests, and do not read the contexts of the developer.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type IPty, spawn as spawnInTerminal } from '@lydell/node-pty';
import { atEndOfRun } from '#test/end-of-run.ts';
import { runCommandWith } from '#test/process/run-command.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';

const ROOT = join(import.meta.dirname, '../..');
export const MAIN = join(ROOT, 'bin/sched.js');
const WAIT_MS_MAX = 60_000;
const ROWS = 40;

type Env = Readonly<Record<string, string>>;

export interface Piped {
  readonly env?: Env;
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const running = new Set<ChildProcessWithoutNullStreams | IPty>();
atEndOfRun(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Every command gets its own home directory. */
function environment(env: Env): Record<string, string> {
  const home = temporaryDirectory();
  return { PATH: process.env.PATH ?? '', HOME: home, TERM: 'xterm-256color', ...env };
}

/** Runs a command in pipes until it ends. Only one that reads standard input, or that has a folder, needs a process. */
export async function runPiped(args: readonly string[], options: Piped = {}): Promise<Ended> {
  if (options.input === undefined && options.cwd === undefined)
    return runCommandWith(environment(options.env ?? {}), args);
  const running = startPiped(args, options);
  running.child.stdin.end(options.input ?? '');
  return running.ended;
}

export interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<Ended>;
  /** Resolves when the output, on either stream, matches. */
  waitForText(form: RegExp): Promise<RegExpExecArray>;
}

/** Starts a command in pipes. */
export function startPiped(args: readonly string[], { env = {}, cwd = ROOT }: Piped = {}): Started {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: environment(env) });
  running.add(child);
  const output = { stdout: '', stderr: '' };
  const waiters = textWaiters();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      waiters.check();
    });
  }
  child.stdin.on('error', () => {});
  const ended = once(child, 'close').then((): Ended => {
    running.delete(child);
    return { code: child.exitCode, ...output };
  });
  return {
    child,
    output,
    ended,
    waitForText: (form) => waiters.wait(form, () => output.stdout + output.stderr),
  };
}

export interface Terminal extends AsyncDisposable {
  /** All output so far, with its control sequences. */
  readonly screen: string;
  readonly ended: Promise<number>;
  waitForText(form: RegExp): Promise<RegExpExecArray>;
  type(keys: string): void;
}

export interface TerminalOptions {
  readonly env?: Env;
  readonly columns?: number;
}

/** Starts a command at a terminal. */
export function startAtTerminal(args: readonly string[], options: TerminalOptions = {}): Terminal {
  const { env = {}, columns = 100 } = options;
  const pty = spawnInTerminal(process.execPath, [MAIN, ...args], {
    cols: columns,
    rows: ROWS,
    cwd: ROOT,
    env: environment(env),
  });
  running.add(pty);
  let screen = '';
  const waiters = textWaiters();
  pty.onData((text) => {
    screen += text;
    waiters.check();
  });
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  pty.onExit(({ exitCode }) => {
    running.delete(pty);
    resolve(exitCode);
  });
  return {
    get screen() {
      return screen;
    },
    ended,
    waitForText: (form) => waiters.wait(form, () => screen),
    type: (keys) => pty.write(keys),
    async [Symbol.asyncDispose]() {
      if (running.has(pty)) pty.kill('SIGKILL');
      await ended;
    },
  };
}

interface Screen {
  readonly code: number | null;
  /** All output, with its control sequences. */
  readonly screen: string;
}

/** Runs a command at a terminal until it ends. */
export async function runAtTerminal(args: readonly string[], options: TerminalOptions = {}): Promise<Screen> {
  await using terminal = startAtTerminal(args, options);
  const code = await terminal.ended;
  return { code, screen: terminal.screen };
}

/** Runs a command without a process. It is told that it writes to a terminal, and prints the same. */
export async function runAsAtTerminal(
  args: readonly string[],
  { env = {}, columns = 100 }: TerminalOptions = {},
): Promise<Screen> {
  const { code, stdout, stderr } = await runCommandWith(environment(env), args, columns);
  return { code, screen: (stdout + stderr).replaceAll('\n', '\r\n') };
}

/** Lets tests wait until a growing text matches. */
function textWaiters() {
  const waiting = new Set<() => void>();
  return {
    check: () => {
      for (const each of waiting) each();
    },
    async wait(form: RegExp, text: () => string): Promise<RegExpExecArray> {
      const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
      const check = () => {
        const found = form.exec(text());
        if (found !== null) resolve(found);
      };
      const timer = setTimeout(
        () => reject(new Error(`The output does not match ${form}:\n${text()}`)),
        WAIT_MS_MAX,
      );
      waiting.add(check);
      check();
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(check);
      });
    },
  };
}

const ESCAPE = '\u001b';
const COLOUR = new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g');

/** Removes colours. Any other control sequence stays. */
export function withoutColours(text: string): string {
  return text.replace(COLOUR, '');
}
