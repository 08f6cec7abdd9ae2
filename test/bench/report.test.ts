/** The report: results go in, a page and its charts come out. */
import { describe, expect, test } from 'vitest';
import type { ContenderId } from '../../bench/contender.ts';
import { latenessRound } from '../../bench/lateness.ts';
import { barsOf } from '../../bench/report/bars.ts';
import { chartsOf, reportOf } from '../../bench/report/report.ts';
import * as words from '../../bench/report/words.ts';
import type { CitusLine, ContenderResults, Results } from '../../bench/results.ts';
import { anchorsOf, pageAt, pageOf } from '../docs/pages.ts';
import { BURST, CANNED, evenRound, neighbourLine } from './canned-results.ts';

const HOSTILE = '<script>alert(1)</script> | `x` [a](javascript:b) *c*\n# d "e" & f';

function withContender(id: ContenderId, changes: Partial<ContenderResults>, results = CANNED): Results {
  const contenders = results.contenders.map((one) => (one.id === id ? { ...one, ...changes } : one));
  return { ...results, contenders };
}

function barOf(results: Results, asked: string): ReturnType<typeof barsOf>[number] {
  return barsOf(results).find((bar) => bar.asked === asked) ?? expect.fail(`no bar: ${asked}`);
}

/** The cells of the row that begins with this name, under the heading. */
function rowOf(page: string, heading: string, name: string): readonly string[] {
  const from = page.indexOf(`## ${heading}`);
  const line = page
    .slice(from)
    .split('\n')
    .find((one) => one.startsWith(`| ${name} |`));
  return (line ?? expect.fail(`no row: ${name}`)).split(' | ').map((cell) => cell.replace(/^\| | \|$/g, ''));
}

describe('the page', () => {
  const page = reportOf(CANNED);

  test('has a section for each work, and says what was run', () => {
    const anchors = anchorsOf(pageOf('docs/benchmarks.md', page));
    for (const anchor of [
      'bars',
      'burst-all-at-one-instant',
      'creates-64-at-once',
      'starting-again',
      'what-was-run',
    ]) {
      expect(anchors).toContain(anchor);
    }
    for (const fact of ['npm run bench', '2026-01-02', '2 × A processor', '24 GB', 'not installed']) {
      expect(page).toContain(fact);
    }
  });

  test('leaves out what was not measured', () => {
    const bare = reportOf({ ...CANNED, stored: null, recovery: null });
    expect(bare).not.toContain('## With many schedules stored');
    expect(bare).not.toContain('stored-throughput.svg');
    expect(page).not.toContain('## Recurring');
    expect(page).not.toContain('## Beside endpoints');
  });

  test('shows the median and the range of rounds', () => {
    const [, perSecond, ofLimit, last] = rowOf(page, 'Burst', 'contender limit');
    expect([perSecond, ofLimit, last]).toEqual(['1,980 (1,961–2,000)', '1.00', '101 (100–102)']);
    expect(rowOf(page, 'Burst', 'contender sched-sqlite')[2]).toBe('0.71');
  });

  test('shows the package beside the checkout', () => {
    const [, packed] = rowOf(page, 'Installing', 'the package, packed');
    expect(packed).toBe('1.4');
    expect(rowOf(page, 'Installing', 'installed with the runtime')[1]).toBe('230.0');
    expect(rowOf(page, 'Installing', '`sched dev` listens').slice(1)).toEqual(['700 (600–1,600)', '1,200']);
    expect(reportOf({ ...CANNED, package: null })).not.toContain('## Installing');
  });

  test('shows the median and the worst of cold starts', () => {
    const row = rowOf(page, 'Cold starts', 'Sched on PostgreSQL');
    expect(row.slice(1)).toEqual(['created when ready', '3', '290', '310', '320', '4.00', '6.00']);
    const { start: _, ...earlier } = CANNED;
    expect(reportOf(earlier)).not.toContain('## Cold starts');
  });

  test('does not make a rate of a burst that did not arrive in full', () => {
    const rounds = [evenRound(BURST, 30_000, 50), evenRound(BURST, 100)];
    const results = withContender('pg-boss', { bursts: [{ count: BURST, rounds }] });
    expect(rowOf(reportOf(results), 'Burst', 'contender pg-boss')[1]).toBe('50 of 200 within 30 s');
  });

  test('can be made from the results of an earlier version', () => {
    const added = new Set(['start', 'citus', 'bareClient', 'databaseCpuMsEach', 'databaseCpuMicrosEach']);
    const text = JSON.stringify(CANNED, (key, value: unknown) => (added.has(key) ? undefined : value));
    const earlier = reportOf(JSON.parse(text) as Results);
    expect(rowOf(earlier, 'Burst', 'contender sched-postgres').slice(4, 6)).toEqual([
      '0.10 (0.10–0.10)',
      '–',
    ]);
    expect(earlier).not.toMatch(/undefined|NaN/);
    expect(earlier).not.toContain('## Cold starts');
  });

  test('is the same for the same results, and has no block that a reader would run', () => {
    expect(reportOf(CANNED)).toBe(page);
    expect(pageOf('docs/benchmarks.md', page).blocks.map(({ language }) => language)).toEqual(['text']);
  });

  test('in the docs has the present texts of the generator', () => {
    const { CAVEATS, ...texts } = words;
    const optional = new Map([
      [words.HANGING, 'Beside endpoints that hang'],
      [words.NOTIFICATIONS, 'Beside dead letters that are told'],
      [words.DASHBOARD, 'While somebody looks'],
      [words.START, 'Cold starts'],
      [words.NODES, 'Several nodes on one PostgreSQL'],
      [words.CITUS, 'Many projects on Citus'],
    ]);
    const measured = pageAt('docs/benchmarks.md').text;
    for (const text of [...Object.values(texts), ...CAVEATS]) {
      const heading = optional.get(text);
      if (heading === undefined || measured.includes(`## ${heading}`)) expect(measured).toContain(text);
      else expect(measured).not.toContain(text);
    }
  });

  test('keeps names and remarks in their place', () => {
    const hostile = reportOf(
      withContender('limit', { name: HOSTILE, remarks: [HOSTILE], settings: HOSTILE }),
    );
    expect(hostile).not.toContain('<script');
    expect(hostile).not.toMatch(/(?<!\\)\]\(javascript/);
    expect(hostile.match(/^# /gm)).toHaveLength(1);
    const columns = (text: string) =>
      text
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .map((line) => line.split(/(?<!\\)\|/).length);
    expect(columns(hostile)).toEqual(columns(page));
  });
});

describe('bars', () => {
  test('are met or missed by the medians', () => {
    expect(barOf(CANNED, 'SQLite: at least 0.60 of the limit')).toMatchObject({ verdict: 'met' });
    expect(barOf(CANNED, 'PostgreSQL: at least 0.40 of the limit')).toMatchObject({ verdict: 'met' });
    expect(barOf(CANNED, 'SQLite: p50 within 1 ms of the limit')).toMatchObject({ verdict: 'met' });
    const slow = withContender('sched-sqlite', {
      bursts: [{ count: BURST, rounds: [evenRound(BURST, 1_000)] }],
    });
    expect(barOf(slow, 'SQLite: at least 0.60 of the limit')).toMatchObject({
      measured: '200 against 1,980 a second: 0.101',
      verdict: 'missed',
    });
  });

  test('have the figure per core beside them', () => {
    const asked = 'SQLite: at least 0.60 of the limit';
    const round = latenessRound({
      expected: 2,
      latenessMs: [500, 1_000],
      repeated: 0,
      cpu: { ownMs: 0.6, databaseMs: 0.4 },
    });
    const slow = withContender('sched-sqlite', { bursts: [{ count: BURST, rounds: [round] }] });
    expect(barOf(slow, asked)).toMatchObject({ verdict: 'missed', perCore: '2,000 against 10,000 per core' });
    expect(reportOf(slow)).toContain('2 against 1,980 a second: 0.001; 2,000 against 10,000 per core');
    expect(reportOf(CANNED)).not.toContain('against 10,000 per core');
    const { databaseCpuMsEach: _, ...earlier } = round;
    const before = withContender('sched-sqlite', { bursts: [{ count: BURST, rounds: [earlier] }] });
    expect(barOf(before, asked)).toMatchObject({ verdict: 'missed' });
    expect(barOf(before, asked).perCore).toBeUndefined();
  });

  test('that are goals are reached, but not missed', () => {
    const asked = 'PostgreSQL: 0.8 of graphile-worker with its batches';
    expect(barOf(CANNED, asked).verdict).toBe('goal reached');
    const slow = withContender('sched-postgres', {
      bursts: [{ count: BURST, rounds: [evenRound(BURST, 2_000)] }],
    });
    expect(barOf(slow, asked)).toMatchObject({
      measured: '100 against 198 a second: 0.505',
      verdict: 'goal',
    });
    expect(barOf(withContender('graphile-batches', { bursts: [] }), asked).verdict).toBe('not measured');
  });

  test('hold a restart against the bare client, started anew', () => {
    const asked = 'SQLite: drained at 0.5 of the rate of a bare client that starts anew';
    expect(barOf(CANNED, asked)).toMatchObject({
      measured: '1,400 against 2,000 a second: 0.700',
      verdict: 'met',
    });
    const recovery = { lines: CANNED.recovery?.lines ?? [], remarks: [] };
    expect(barOf({ ...CANNED, recovery }, asked).verdict).toBe('not measured');
    expect(reportOf({ ...CANNED, recovery })).not.toContain('bare client, started anew |');
    expect(rowOf(reportOf(CANNED), 'Starting again', 'bare client, started anew')[4]).toMatch(/^2,000/);
  });

  test('ask of a cold start that it is ready soon, and on time', () => {
    expect(barOf(CANNED, 'SQLite: ready in under 400 ms')).toMatchObject({
      measured: '300 ms',
      verdict: 'met',
    });
    const first = (results: Results, what: string) =>
      barOf(results, `PostgreSQL: first delivery, ${what}, within 5 ms`).verdict;
    expect(first(CANNED, 'created when ready')).toBe('met');
    const late = { first: 'stored', listeningMs: 500, readyMs: 401, arrivedMs: 5.1 } as const;
    const slow: Results = {
      ...CANNED,
      start: { lines: [{ store: 'postgres', version: 'this', starts: [late] }], remarks: [] },
    };
    expect(first(slow, 'stored before')).toBe('missed');
    expect(first(slow, 'created when ready')).toBe('not measured');
    expect(barOf(slow, 'PostgreSQL: ready in under 400 ms').verdict).toBe('missed');
  });

  test('ask of the package that it starts fast', () => {
    const asked = 'sched dev listens within 1.5 s';
    expect(barOf(CANNED, asked)).toMatchObject({ measured: '700 ms', verdict: 'met' });
    expect(barOf({ ...CANNED, package: null }, asked)).toMatchObject({ verdict: 'not measured' });
  });

  test('compare with the best peer that was measured', () => {
    const asked = 'SQLite: p99 at least 5 times better than the best peer';
    expect(barOf(CANNED, asked).verdict).toBe('met');
    const near = withContender('agenda', { paced: [evenRound(100, 4)] });
    expect(barOf(near, asked).verdict).toBe('missed');
  });

  test('are not met as long as somebody to be better than did not take part', () => {
    const asked = 'SQLite: p99 at least 5 times better than the best peer';
    const without = withContender('pg-boss', { paced: [] });
    expect(barOf(without, asked)).toMatchObject({
      measured: '2.91 against 20.8 ms: 7.14 times, but not all took part',
      verdict: 'not measured',
    });
    const near = withContender('agenda', { paced: [evenRound(100, 4)] }, without);
    expect(barOf(near, asked).verdict).toBe('missed');
  });

  test('of what was not measured are neither', () => {
    const without = withContender('limit', { paced: [] });
    expect(barOf(without, 'SQLite: p99 within 10 ms of the limit')).toMatchObject({
      measured: 'not measured',
      verdict: 'not measured',
    });
  });

  test('hold memory, lateness and rate with many stored against those with none', () => {
    expect(barOf(CANNED, 'SQLite: memory within 100 MB of that with none')).toMatchObject({
      measured: '170 against 120 MB',
      verdict: 'met',
    });
    expect(barOf(CANNED, 'PostgreSQL: p99 within 20 % of that with none').verdict).toBe('met');
  });
});

describe('neighbours', () => {
  const lines = [
    neighbourLine('sqlite', 'alone', 10),
    neighbourLine('sqlite', 'alone', 90, {}, 'baseline'),
    neighbourLine('sqlite', 'paths', 25),
    neighbourLine('sqlite', 'filters', 20),
    neighbourLine('sqlite', 'burst', 80),
    neighbourLine('postgres', 'alone', 10),
    neighbourLine('postgres', 'paths', 50),
    neighbourLine('postgres', 'all', 120, { slotsLost: 2, peakMemoryMb: [400, 1_100] }),
  ];
  const results: Results = { ...CANNED, neighbour: { lines, remarks: ['one was left out'] } };

  test('have a table for each store, with the baseline beside this version', () => {
    const page = reportOf(results);
    expect(page).toContain('- one was left out');
    expect(page).toContain('30,000 paths of one host that hangs');
    const row = rowOf(page, 'Beside hostile customers', 'paths of one host that hangs');
    expect(row[0]).toBe('paths of one host that hangs');
    expect(row.slice(4)).toEqual([
      '26.0 (25.0–27.0)',
      '0',
      '0',
      '0',
      '–',
      '0',
      '12.0 (12.0–12.0)',
      '301 (300–302)',
      '1,234 (1,234–1,234)',
    ]);
    expect(rowOf(page, 'Beside hostile customers', 'alone, baseline')[4]).toBe('91.0 (90.0–92.0)');
    const cluster = page.slice(page.indexOf('| Two nodes on PostgreSQL |'));
    expect(cluster).toContain('| 301 (300–302) / 280 (280–280) |');
    expect(cluster).toMatch(/\| all of them at once \|.* 0 \| 0 \| 0 \| 6 \| 0 \|/);
  });

  test('tell what is late from what is lost', () => {
    const healthy = evenRound(100, 900, 40);
    const late = [neighbourLine('sqlite', 'burst', 0, { healthy, waiting: 60 })];
    const page = reportOf({ ...CANNED, neighbour: { lines: late, remarks: [] } });
    const row = rowOf(page, 'Beside hostile customers', 'deliveries at one millisecond');
    expect(row.slice(5, 8)).toEqual(['180', '180', '0']);
  });

  test('are not there where they were not measured', () => {
    expect(reportOf(CANNED)).not.toContain('## Beside hostile customers');
  });

  test('are held against the healthy customer alone, each store by its worst', () => {
    const sqlite = (text: string) => barOf(results, `SQLite: ${text}`);
    expect(sqlite('p99 within 20 ms of alone where processors are left idle')).toMatchObject({
      measured: '25.7 ms (paths of one host that hangs)',
      verdict: 'met',
    });
    expect(sqlite('p99 under 100 ms where all are busy').verdict).toBe('met');
    expect(sqlite('none missing, none doubled, no slot lost').verdict).toBe('met');
    const cluster = (text: string) => barOf(results, `Two nodes on PostgreSQL: ${text}`);
    expect(cluster('p99 within 20 ms of alone where processors are left idle').verdict).toBe('missed');
    expect(cluster('p99 under 150 ms where all are busy').verdict).toBe('met');
    expect(cluster('none missing, none doubled, no slot lost').verdict).toBe('missed');
    expect(cluster('memory of each node under 1,000 MB')).toMatchObject({
      measured: '1,100 MB (all of them at once)',
      verdict: 'missed',
    });
  });

  test('are neither met nor missed without what they are held against', () => {
    const alone = { ...CANNED, neighbour: { lines: [neighbourLine('sqlite', 'paths', 25)], remarks: [] } };
    expect(barOf(alone, 'SQLite: p99 within 20 ms of alone where processors are left idle').verdict).toBe(
      'not measured',
    );
    expect(barOf(alone, 'SQLite: p99 under 100 ms where all are busy').verdict).toBe('not measured');
  });
});

describe('several nodes on one PostgreSQL', () => {
  const cost = (ms: number) => ({ cpu: { ownMs: ms * BURST, databaseMs: ms * BURST } });
  const burstThatCosts = (ms: number) => ({
    bursts: [
      {
        count: BURST,
        rounds: [
          latenessRound({
            expected: BURST,
            latenessMs: evenRound(BURST, 100)
              .curveMs.slice(0, BURST)
              .map((late) => late ?? 0),
            repeated: 0,
            ...cost(ms),
          }),
        ],
      },
    ],
  });

  test('are compared by what a delivery costs, with one node', () => {
    const one = withContender('sched-postgres', burstThatCosts(0.2));
    const page = reportOf(withContender('sched-postgres-3', burstThatCosts(0.3), one));
    const [from = ''] = page.slice(page.indexOf('## Several nodes')).split('\n## ').slice(0, 1);
    expect(from).toMatch(/\| 200 at once \| 1 \| .* a second \| 0\.200 \| 0\.200 \| 0\.400 \| 1\.00 \|/);
    expect(from).toMatch(/\| 200 at once \| 3 \| .* a second \| 0\.300 \| 0\.300 \| 0\.600 \| 1\.50 \|/);
    expect(from).toMatch(/\| creates \| 3 \|/);
  });

  test('are not there if one node alone was measured', () => {
    const contenders = CANNED.contenders.filter(({ id }) => !/postgres-[23]/.test(id));
    expect(reportOf({ ...CANNED, contenders })).not.toContain('## Several nodes');
  });
});

describe('many projects on Citus', () => {
  const line = (database: CitusLine['database'], burstMs: number, pacedMs: number): CitusLine => ({
    database,
    version: 'this',
    rounds: [{ paced: evenRound(100, pacedMs), burst: evenRound(BURST, burstMs) }],
  });
  const cluster = { citus: '13.2.0', postgres: '15.14', workers: 2, shards: 32, isDurable: false };
  const results: Results = {
    ...CANNED,
    citus: { cluster, lines: [line('postgres', 100, 20), line('citus', 200, 60)], remarks: [] },
  };
  const burstBar = 'Citus: at least a third of PostgreSQL';

  test('are compared with plain PostgreSQL, and the cluster is described', () => {
    const page = reportOf(results);
    expect(page).toContain('Citus 13.2.0 on PostgreSQL 15.14, a coordinator and 2 workers, 32 shards');
    expect(page).toContain('Commits do not wait for the disk');
    const row = rowOf(page, 'Many projects on Citus', 'Sched on Citus');
    expect(row.slice(3)).toEqual(['1,000', '0.50', '0.10', '0.00', '–']);
    expect(barOf(results, burstBar)).toMatchObject({ verdict: 'met' });
    expect(barOf(results, 'Citus: p99 under 100 ms')).toMatchObject({ measured: '59.4 ms', verdict: 'met' });
  });

  test('miss their bars with the figure per core beside', () => {
    const lines = [line('postgres', 100, 20), line('citus', 400, 102)];
    const slow: Results = { ...results, citus: { cluster, lines, remarks: [] } };
    expect(barOf(slow, burstBar)).toMatchObject({
      measured: '500 against 2,000 a second: 0.250',
      verdict: 'missed',
      perCore: '10,000 against 10,000 per core',
    });
    expect(barOf(slow, 'Citus: p99 under 100 ms').verdict).toBe('missed');
  });

  test('are not measured without a cluster, and the page says so', () => {
    const remarks = ['Not run: there is no cluster.'];
    const page = reportOf({ ...CANNED, citus: { cluster: null, lines: [], remarks } });
    expect(page).toContain('## Many projects on Citus');
    expect(page).toContain('- Not run: there is no cluster.');
    expect(barsOf(CANNED).some(({ asked }) => asked === burstBar)).toBe(false);
    expect(reportOf(CANNED)).not.toContain('## Many projects on Citus');
  });
});

describe('the charts', () => {
  const charts = chartsOf(CANNED);

  test('are all shown by the page', () => {
    const files = charts.map(({ file }) => file);
    expect(files).toEqual(
      ['lateness', 'burst', 'stored-throughput', 'stored-lateness'].map((name) => `benchmarks/${name}.svg`),
    );
    for (const file of files) expect(reportOf(CANNED)).toContain(`](${file})`);
  });

  test('are small, and ask nothing of the outside', () => {
    for (const { file, svg } of charts) {
      expect(svg.length, file).toBeLessThan(30_000);
      expect(svg.replace('http://www.w3.org/2000/svg', ''), file).not.toMatch(/https?:|<script|<image|url\(/);
      expect(svg, file).not.toMatch(/NaN|Infinity|undefined/);
    }
  });

  test('tell the median and the 99th percentile of each contender', () => {
    expect(charts[0]?.svg).toContain('contender limit: half within 1.1 ms, 99 % within 2.1 ms');
  });

  test('escape names', () => {
    for (const { file, svg } of chartsOf(withContender('limit', { name: HOSTILE }))) {
      expect(svg, file).not.toContain('<script');
    }
  });

  test('are not there for works that were not run', () => {
    const contenders = CANNED.contenders.map((one) => ({ ...one, paced: [], bursts: [] }));
    expect(chartsOf({ ...CANNED, contenders, stored: null })).toEqual([]);
  });
});
