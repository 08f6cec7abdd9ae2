/**
 * Runs `sched` for tests in its own process, on its own port and in its own directory.
 *
 *     await using sched = await startSched();
 *     await fetch(`${sched.url}/v1/schedules`, { headers: { authorization: `Bearer ${sched.testKey}` } });
 *
 * A process never outlives its test: leaving the scope kills it, and so does the end of the test run. If the tests run
 * on several nodes (see `store-in-use.ts`), it is several processes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEndOfRun } from '#test/end-of-run.ts';
import { NODES, storeSettings } from './store-in-use.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = 'bin/sched.js';
const LISTENS = /^Sched listens on (http:\/\/\S+)$/m;
const WAIT_MS_MAX = 60_000;
export const TEST_KEY = /sk_test_\w{32}/;
export const LIVE_KEY = /sk_live_\w{32}/;

export interface SchedOptions {
  /** The settings. The environment of the tests is not inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** The default is a new directory. */
  readonly dataDir?: string;
  /** Additional flags. */
  readonly args?: readonly string[];
}

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Finished extends Output {
  readonly code: number | null;
}

export interface SchedProcess extends AsyncDisposable {
  /** With several nodes, each read returns the URL of the next one. */
  readonly url: string;
  /** The URLs of all nodes. */
  readonly urls: readonly string[];
  readonly pid: number;
  /** The directory identifies the store, SQLite or PostgreSQL. */
  readonly dataDir: string;
  /** The key from the environment, or the one that the first start printed. */
  readonly testKey: string;
  readonly liveKey: string;
  /** The output so far. */
  readonly output: Output;
  readonly exited: Promise<Exit>;
  /** Resolves when the output matches. */
  said(form: RegExp): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<Exit>;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<Exit>;
}

const running = new Set<ChildProcess>();
const directories = new Set<string>();
atEndOfRun(() => {
  for (const child of running) child.kill('SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** These directories are removed at the end of the test run. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sched-test-'));
  directories.add(directory);
  return directory;
}

interface Launched {
  readonly child: ChildProcess;
  readonly output: Output;
  readonly exited: Promise<Exit>;
}

function launch(args: readonly string[], env: Readonly<Record<string, string>>): Launched {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SCHED_'));
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: ROOT,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  running.add(child);
  const exited = once(child, 'close').then((): Exit => {
    running.delete(child);
    return { code: child.exitCode, signal: child.signalCode };
  });
  return { child, output, exited };
}

/** Runs a command to its end. */
export async function runSched(args: readonly string[], options: SchedOptions = {}): Promise<Finished> {
  const dataDir = options.dataDir ?? temporaryDirectory();
  const env = { ...(await storeSettings(dataDir)), ...options.env };
  const command = launch([...args, ...(options.args ?? [])], env);
  const { code } = await command.exited;
  return { code, ...command.output };
}

/** Starts the service, on all its nodes at once, and waits until it listens. */
export async function startSched(options: SchedOptions = {}): Promise<SchedProcess> {
  const dataDir = options.dataDir ?? temporaryDirectory();
  const store = await storeSettings(dataDir);
  const start = () => startNode({ ...options, dataDir, env: { ...store, ...options.env } });
  const [first, ...others] = await Promise.all([start(), ...Array.from({ length: NODES - 1 }, start)]);
  return others.length === 0 ? first : nodesAsOne([first, ...others]);
}

async function startNode(options: SchedOptions & { readonly dataDir: string }): Promise<SchedProcess> {
  const { dataDir } = options;
  const env = { SCHED_PORT: '0', ...options.env };
  const launched = launch(['serve', ...(options.args ?? [])], env);
  const { child, output, exited } = launched;

  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  const [, url = ''] = await written(LISTENS, launched).catch(async (error: unknown) => {
    await end('SIGKILL');
    throw error;
  });
  return {
    url,
    urls: [url],
    pid: child.pid ?? -1,
    dataDir,
    output,
    exited,
    get testKey() {
      return options.env?.SCHED_BOOTSTRAP_TEST_KEY ?? printed(output, TEST_KEY);
    },
    get liveKey() {
      return options.env?.SCHED_BOOTSTRAP_LIVE_KEY ?? printed(output, LIVE_KEY);
    },
    said: async (form) => void (await written(form, launched)),
    signal: (signal) => {
      child.kill(signal);
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  };
}

/** Finds a key in what the first start printed. */
export function printed({ stdout }: Output, form: RegExp): string {
  const found = form.exec(stdout)?.[0];
  if (found === undefined) throw new Error('This start printed no such key: bring one by the environment.');
  return found;
}

async function written(form: RegExp, { child, output, exited }: Launched): Promise<RegExpExecArray> {
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
  const look = () => {
    const found = form.exec(output.stdout) ?? form.exec(output.stderr);
    if (found !== null) resolve(found);
  };
  const fail = (why: string) => reject(new Error(`Sched ${why}.\n${output.stdout}${output.stderr}`));
  const timer = setTimeout(() => fail(`did not say ${form} within ${WAIT_MS_MAX} ms`), WAIT_MS_MAX);
  child.stdout?.on('data', look);
  child.stderr?.on('data', look);
  exited.then(({ code }) => fail(`ended with exit code ${code} before it said ${form}`), reject);
  look();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.stdout?.off('data', look);
    child.stderr?.off('data', look);
  }
}

/**
 * Several nodes that share a store, used as one service. Every action applies to each of them, and requests go to the
 * nodes in turn.
 */
function nodesAsOne(nodes: readonly [SchedProcess, ...SchedProcess[]]): SchedProcess {
  const [first] = nodes;
  const urls = nodes.flatMap((node) => node.urls);
  let turn = 0;
  const output: Output = {
    get stdout() {
      return nodes.map(({ output: { stdout } }) => stdout).join('');
    },
    get stderr() {
      return nodes.map(({ output: { stderr } }) => stderr).join('');
    },
  };
  const exited = Promise.all(nodes.map((node) => node.exited)).then(exitOfAll);
  const each = async (act: (node: SchedProcess) => Promise<unknown>) => {
    await Promise.all(nodes.map(act));
  };
  return {
    get url() {
      turn += 1;
      return urls[turn % urls.length] ?? first.url;
    },
    urls,
    pid: first.pid,
    dataDir: first.dataDir,
    output,
    exited,
    // One of the nodes generated and printed the keys.
    get testKey() {
      return anyOf(nodes, ({ testKey }) => testKey);
    },
    get liveKey() {
      return anyOf(nodes, ({ liveKey }) => liveKey);
    },
    said: (form) => each((node) => node.said(form)),
    signal: (signal) => {
      for (const node of nodes) node.signal(signal);
    },
    stop: async () => {
      await each((node) => node.stop());
      return exited;
    },
    kill: async () => {
      await each((node) => node.kill());
      return exited;
    },
    [Symbol.asyncDispose]: () => each(async (node) => node[Symbol.asyncDispose]()),
  };
}

/** The exit code that reports the worst outcome. */
function exitOfAll(exits: readonly Exit[]): Exit {
  const [first] = exits.toSorted((a, b) => Number(a.code === 0) - Number(b.code === 0));
  return first ?? { code: null, signal: null };
}

function anyOf(nodes: readonly SchedProcess[], read: (node: SchedProcess) => string): string {
  const found = nodes.flatMap((node) => {
    try {
      return [read(node)];
    } catch {
      return [];
    }
  });
  if (found[0] === undefined) throw new Error('No node printed such a key.');
  return found[0];
}
