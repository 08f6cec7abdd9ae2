import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Report } from './report.ts';
import type { RunResult } from './run.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

function resultOf(seed: number, changes: Partial<RunResult> = {}): RunResult {
  return {
    seed,
    failure: null,
    digest: '',
    events: 0,
    simulatedMs: 43_200_000,
    stats: { starts: 1, crashes: 1, stops: 0, requests: 2, calls: 3 },
    covered: { succeeded: 2 },
    trace: [],
    ...changes,
  };
}

test('progress says how many seeds are done, how fast, how long it will take, and which failed', () => {
  const report = new Report(100, 0);
  expect(report.progress(1_000)).toBe('0 of 100 seeds, 0.0 seeds/s, an unknown time left, 0 violations');
  report.add(resultOf(7));
  report.add(resultOf(8, { failure: { checker: 'lifecycle', message: 'no' } }));
  expect(report.progress(2_000)).toBe('2 of 100 seeds, 1.0 seeds/s, 1.6 min left, 1 violations (seeds 8)');
});

test('the summary of a run that was not finished lists the situations that it covered and those that it missed', () => {
  const report = new Report(3, 0);
  report.add(resultOf(7));
  report.add(resultOf(8, { covered: { succeeded: 1, retried: 1 } }));
  expect(report.hasFailed).toBe(false);
  expect(report.summary(4_000, ['succeeded', 'retried', 'moved']).split('\n')).toEqual([
    '2 seeds, 1.0 simulated days in 4.0 s (0.50 seeds/s)',
    '  4 requests, 6 API calls, 2 crashes, 0 stops',
    '  covered: succeeded 3, retried 1',
    '  not covered: moved',
    '  1 seeds were not run',
  ]);
});

test('a run that is interrupted after a violation says so and ends with exit code 1', async () => {
  const bug = 'every request is sent twice';
  const args = [MAIN, '--seed', '1', '--seeds', '100000', '--steps', '10', '--keep-going', '--bug', bug];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  let isInterrupted = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (isInterrupted || !output.includes('VIOLATION of sends')) return;
    isInterrupted = true;
    child.kill('SIGINT');
  });
  const [code] = await once(child, 'close');
  expect(code).toBe(1);
  expect(output).toContain('Interrupted by SIGINT.');
  expect(output).toMatch(/^\d+ FAILED: seeds \d/m);
  expect(output).toMatch(/^ {2}\d+ seeds were not run$/m);
});
