/**
 * `npm run fuzz -- [--requests N] [--seed S]` sends hostile input to the real service, on a new data
 * directory. It ends with exit code 1 when a promise was broken, and prints how to send the same requests
 * again.
 */
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { integrityOf } from './audit.ts';
import { type Report, runFuzz } from './run.ts';
import { startService } from './service.ts';

const REQUESTS_DEFAULT = 100_000;

function readArguments(): { readonly requests: number; readonly seed: number } {
  const { values } = parseArgs({ options: { requests: { type: 'string' }, seed: { type: 'string' } } });
  const requests = Number(values.requests ?? REQUESTS_DEFAULT);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  if (!Number.isInteger(requests) || requests < 1 || !Number.isInteger(seed)) {
    throw new Error('Usage: npm run fuzz -- [--requests N] [--seed S]');
  }
  return { requests, seed };
}

function counts(map: ReadonlyMap<string, number>): string {
  return [...map]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

function print(report: Report, exitCode: number | null, integrity: string): void {
  const { memoryMb, stored } = report;
  console.log(`${report.requests} requests in ${report.seconds.toFixed(1)} s, seed ${report.seed}`);
  console.log(`  sent:     ${counts(report.byKind)}`);
  console.log(`  answers:  ${counts(report.byAnswer)}`);
  console.log(`  stored:   ${JSON.stringify(stored)}`);
  console.log(`  connections opened: ${report.connections}`);
  const { ms, runMs } = report.slowestPing;
  const ran = runMs === null ? '' : `, the service at work for ${runMs} ms of it`;
  console.log(`  /healthz meanwhile: ${ms.toFixed(0)} ms at most${ran}`);
  console.log(
    `  slowest:  ${report.slowest.map(({ index, kind, ms }) => `${ms.toFixed(0)} ms (${kind}, ${index})`).join(', ')}`,
  );
  if (memoryMb !== null) {
    console.log(
      `  memory:   ${memoryMb.start} MB at the start, ${memoryMb.end} MB at the end, ${memoryMb.peak} MB at most`,
    );
  }
  console.log(`  exit code ${exitCode}, integrity_check ${integrity}`);
}

const { requests, seed } = readArguments();
const dataDir = temporaryDirectory();
try {
  const sched = await startService(dataDir);
  console.log(`npm run fuzz -- --requests ${requests} --seed ${seed}`);
  const report = await runFuzz({
    sched,
    seed,
    requests,
    progress: (done) => process.stderr.write(`${done} of ${requests}\n`),
  });
  const { code } = await sched.stop();
  const integrity = integrityOf(dataDir);
  print(report, code, integrity);
  for (const { index, kind, what, file } of report.violations) {
    console.log(`VIOLATION ${index === null ? '' : `request ${index} `}(${kind}): ${what}`);
    if (index !== null)
      console.log(`  again: npm run fuzz -- --seed ${seed} --requests ${index + 1}   bytes: ${file}`);
  }
  if (report.violations.length > 0 || code !== 0 || integrity !== 'ok') process.exitCode = 1;
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
