/** docs/operations.md explains exactly the metrics and log lines that exist. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { prometheusMetrics } from '#src/system/metrics.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
/** A call of the log with its message as a literal. */
const LOGGED = /log\s*\.(?:debug|info|warn|error)\(\s*(?:\{[^}]*\}|[\w.]+),\s*'([^']+)'/gs;
/** The messages of an outage and of its end. */
const OUTAGE = /warnsOfOutage\([^']*'([^']+)',\s*'([^']+)'/g;
/** Messages of the process about itself. They are listed where they are explained. */
const ELSEWHERE = ['request', 'started', 'stopped', 'stopping'];

async function metricNames(): Promise<readonly string[]> {
  const metrics = prometheusMetrics();
  metrics.watch(() => ({ waiting: 0, inFlight: 0, breakers: { open: 0, halfOpen: 0 } }));
  metrics.watchCluster(() => ({
    slotsOwned: 0,
    nodes: 0,
    clockOffsetSeconds: 0,
    isClockSynchronized: true,
    isLeaseValid: true,
  }));
  const text = await metrics.exposition();
  return [...text.matchAll(/^# TYPE (sched_\w+) /gm)].map(([, name = '']) => name);
}

/** Returns the first cell of each row of a section. */
function cells(heading: string): readonly string[] {
  const [, section = ''] = PAGE.split(`\n${heading}\n`);
  const [body = ''] = section.split(/\n## /);
  return body.split('\n').flatMap((line) => (line.startsWith('| `') ? [line.split(' | ')[0] ?? ''] : []));
}

describe('docs/operations.md', () => {
  test('explains every metric, and no other', async () => {
    const named = cells('## Metrics').map((cell) => /sched_\w+/.exec(cell)?.[0] ?? '');
    expect(named.toSorted()).toEqual((await metricNames()).toSorted());
  });

  test('alerts on metrics that exist', async () => {
    const names = await metricNames();
    for (const [, name = ''] of PAGE.matchAll(/\b(sched_[a-z_]+?)(?:_bucket|_count)?(?:\{|\[|\)| [<=>])/g))
      expect(names).toContain(name);
  });

  test('explains every log line, and no other', () => {
    const logged = new Set<string>([
      'uncaught exception',
      'unhandled rejection',
      'log lines were dropped: standard error was not read',
    ]);
    for (const file of globSync('src/**/*.ts', { cwd: ROOT })) {
      const text = file.endsWith('.test.ts') ? '' : readFileSync(join(ROOT, file), 'utf8');
      for (const [, line = ''] of text.matchAll(LOGGED)) logged.add(line);
      for (const [, failed = '', recovered = ''] of text.matchAll(OUTAGE)) logged.add(failed).add(recovered);
    }
    const named = cells('## Troubleshooting by log line').flatMap((cell) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, line = '']) => line),
    );
    expect([...named, ...ELSEWHERE].toSorted()).toEqual([...logged].toSorted());
  });
});
