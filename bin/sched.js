#!/usr/bin/env node
/**
 * `sched`, on whatever Node the machine has. Sched runs on Node 24, which its packages bring along; where the
 * Node that was called is older, the one beside it takes over.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = new URL('../src/cli/main.ts', import.meta.url);
const OWN_NODE = new URL('../node_modules/.bin/node', import.meta.url);
const RUNS_FROM = [24, 15];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isNewEnough = major > RUNS_FROM[0] || (major === RUNS_FROM[0] && minor >= RUNS_FROM[1]);

if (isNewEnough) await import(MAIN.href);
else handOver();

function handOver() {
  const child = spawn(fileURLToPath(OWN_NODE), [fileURLToPath(MAIN), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', () => {
    process.stderr.write(
      `sched: Node ${RUNS_FROM.join('.')} or newer is needed, this is ${process.versions.node}; run \`npm ci\` where Sched lies.\n`,
    );
    process.exitCode = 1;
  });
  child.on('close', (code, signal) => {
    if (signal === null) process.exitCode = code ?? 1;
    else process.kill(process.pid, signal);
  });
}
