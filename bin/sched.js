#!/usr/bin/env node
/**
 * Where `sched` begins, on whatever Node the machine has. It runs on Node 24, which its packages bring along for
 * Linux and Windows; where the Node that was called is older, the one beside it takes over.
 *
 * What is compiled once is kept, types stripped and all, in a folder that belongs to whoever installed Sched: that
 * halves the time a start takes. It has to be set before the first of our modules is loaded, and this file is plain
 * JavaScript so that nothing has to be stripped at all. Where the folder cannot be written, everything is compiled
 * anew.
 *
 * Node collects garbage and compiles on four helper threads. On a machine with fewer processors they take those from
 * deliveries that are due. The service leaves one processor to itself there; since only a starting Node takes this
 * setting, the process replaces itself once.
 */
import { spawn } from 'node:child_process';
import module from 'node:module';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const SELF = new URL(import.meta.url);
const KEPT_IN = new URL('../node_modules/.cache/sched', import.meta.url);
const OWN_NODE = new URL('../node_modules/.bin/node', import.meta.url);
const RUNS_FROM = [24, 15];
const LONG_RUNNING = new Set(['serve', 'dev']);
const HELPERS = '--v8-pool-size';
/** As Node has them where nobody says otherwise. */
const HELPER_THREADS = 4;
const OWN_NODE_FOR = new Set(['linux arm64', 'linux x64', 'win32 x64']);

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isNewEnough = major > RUNS_FROM[0] || (major === RUNS_FROM[0] && minor >= RUNS_FROM[1]);

if (!isNewEnough) handOver();
else if (hasTooManyHelpers()) startAgain();
else await begin();

function hasTooManyHelpers() {
  const isService = LONG_RUNNING.has(process.argv[2] ?? '');
  const isSet = [...process.execArgv, process.env.NODE_OPTIONS].some((flags) => flags?.includes(HELPERS));
  return isService && !isSet && process.execve !== undefined && availableParallelism() <= HELPER_THREADS;
}

function startAgain() {
  const flag = `${HELPERS}=${Math.max(availableParallelism() - 1, 1)}`;
  const { execPath, execArgv, argv } = process;
  process.execve(execPath, [execPath, flag, ...execArgv, ...argv.slice(1)]);
}

async function begin() {
  module.enableCompileCache(fileURLToPath(KEPT_IN));
  const { main } = await import('../src/cli/main.ts');
  await main();
}

function handOver() {
  const child = spawn(fileURLToPath(OWN_NODE), [fileURLToPath(SELF), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', () => {
    const isBrought = OWN_NODE_FOR.has(`${process.platform} ${process.arch}`);
    const advice = isBrought ? 'run `npm ci` where Sched lies' : 'install it and run this with it';
    process.stderr.write(
      `sched: Node ${RUNS_FROM.join('.')} or newer is needed, this is ${process.versions.node}; ${advice}.\n`,
    );
    process.exitCode = 1;
  });
  child.on('close', (code, signal) => {
    // Below 0 it was not started, which has been said.
    if (signal === null) process.exitCode = code === null || code < 0 ? 1 : code;
    else process.kill(process.pid, signal);
  });
}
