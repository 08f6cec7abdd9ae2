#!/usr/bin/env node
/**
 * The entry point of `sched`, for any version of Node. Sched runs on Node 24, and its packages contain Node 24 for
 * Linux and Windows. An older Node hands over to that one.
 *
 * Compiled code is cached in a folder that belongs to the user who installed Sched. The cache holds the code with its
 * types stripped, and halves the start time. It must be enabled before the first module is loaded. This file is plain
 * JavaScript, so nothing has to be stripped before that. If the folder cannot be written, all code is compiled again.
 *
 * Node uses four helper threads for garbage collection and compilation. On a machine with four processors or fewer,
 * they compete with due deliveries. The service therefore starts with one helper thread fewer than processors. Only
 * a starting Node accepts this setting, so the process replaces itself once.
 */
import { spawn } from 'node:child_process';
import module from 'node:module';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const SELF = new URL(import.meta.url);
const CACHE_FOLDER = new URL('../node_modules/.cache/sched', import.meta.url);
const OWN_NODE = new URL('../node_modules/.bin/node', import.meta.url);
const MINIMUM_VERSION = [24, 15];
const LONG_RUNNING = new Set(['serve', 'dev']);
const HELPERS_FLAG = '--v8-pool-size';
/** Node's default number of helper threads. */
const HELPER_THREADS = 4;
const OWN_NODE_FOR = new Set(['linux arm64', 'linux x64', 'win32 x64']);

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isNewEnough =
  major > MINIMUM_VERSION[0] || (major === MINIMUM_VERSION[0] && minor >= MINIMUM_VERSION[1]);

if (!isNewEnough) handOver();
else if (hasTooManyHelpers()) restartWithFewerHelpers();
else await start();

function hasTooManyHelpers() {
  const isService = LONG_RUNNING.has(process.argv[2] ?? '');
  const isSet = [...process.execArgv, process.env.NODE_OPTIONS].some((flags) =>
    flags?.includes(HELPERS_FLAG),
  );
  return isService && !isSet && process.execve !== undefined && availableParallelism() <= HELPER_THREADS;
}

function restartWithFewerHelpers() {
  const flag = `${HELPERS_FLAG}=${Math.max(availableParallelism() - 1, 1)}`;
  const { execPath, execArgv, argv } = process;
  process.execve(execPath, [execPath, flag, ...execArgv, ...argv.slice(1)]);
}

async function start() {
  // Threads read the folder from the environment. Without it, each thread would compile its modules again.
  // An empty setting counts as unset. Node would take it for the working directory, which may belong to others.
  process.env.NODE_COMPILE_CACHE ||= fileURLToPath(CACHE_FOLDER);
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  const { main } = await import('../src/cli/main.ts');
  await main();
}

function handOver() {
  const child = spawn(fileURLToPath(OWN_NODE), [fileURLToPath(SELF), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', () => {
    const isBundled = OWN_NODE_FOR.has(`${process.platform} ${process.arch}`);
    const advice = isBundled
      ? 'Run `npm ci` in the folder of Sched'
      : 'Install it and run this command with it';
    process.stderr.write(
      `sched: Sched needs Node ${MINIMUM_VERSION.join('.')} or newer, and this is ${process.versions.node}. ${advice}.\n`,
    );
    process.exitCode = 1;
  });
  child.on('close', (code, signal) => {
    // A code below 0 means that the child did not start, and the error was printed already.
    if (signal === null) process.exitCode = code === null || code < 0 ? 1 : code;
    else process.kill(process.pid, signal);
  });
}
