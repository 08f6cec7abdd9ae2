/** The table at the end of a run. */
import { describe, expect, test } from 'vitest';
import { latenessRound } from '../../bench/lateness.ts';
import { optionsOf } from '../../bench/options.ts';
import type { ContenderResults, Results } from '../../bench/results.ts';
import { summaryOf } from '../../bench/summary.ts';
import { CANNED, neighbourLine } from './canned-results.ts';

const CONTENDER: ContenderResults = {
  id: 'limit',
  name: 'the limit',
  version: '',
  settings: '',
  durability: '',
  paced: [],
  bursts: [],
  creates: [],
  recurring: [],
  remarks: [],
};

function resultsWith(contenders: readonly ContenderResults[]): Results {
  return {
    format: 1,
    command: 'npm run bench',
    startedAt: '2027-01-01T00:00:00.000Z',
    elapsedSeconds: 1,
    machine: {
      cores: 2,
      processor: 'p',
      memoryGb: 8,
      system: 's',
      node: '24',
      postgres: '18',
      redis: null,
    },
    scale: optionsOf([]).scale,
    contenders,
    stored: null,
    recovery: null,
    hanging: null,
    dashboard: null,
    neighbour: null,
    package: null,
  };
}

function burstIn(lastMs: number, arrived = 5_000) {
  const latenessMs = Array.from({ length: arrived }, (_, n) => ((n + 1) * lastMs) / arrived);
  return {
    count: 5_000,
    rounds: [
      latenessRound({ expected: 5_000, latenessMs, repeated: 0, cpu: { ownMs: 1_000, databaseMs: 0 } }),
    ],
  };
}

describe('the summary', () => {
  test('shows the package beside the checkout', () => {
    const text = summaryOf({ ...resultsWith([]), package: CANNED.package });
    expect(text).toContain('1.4 MB packed, 30.0 MB installed, 200.0 MB more with the runtime');
    expect(text).toMatch(/^package +110 +700$/m);
    expect(text).toMatch(/^checkout +200 +1200$/m);
  });

  test('shows cold starts and their first delivery', () => {
    const text = summaryOf({ ...resultsWith([]), start: CANNED.start ?? null });
    expect(text).toMatch(/Sched on SQLite: first created +3 +290 +310 +320 +4\.0 +6\.0/);
    expect(text).toMatch(/Sched on SQLite: first stored +3 +280 +300 +300 +3\.0 +3\.0/);
  });

  test('compares restarts with the bare client', () => {
    const text = summaryOf({ ...resultsWith([]), recovery: CANNED.recovery });
    expect(text).toMatch(/bare client +- +2000 +1\.00 +-/);
    expect(text).toMatch(/Sched on SQLite +501 +1400 +0\.70 +19\.8/);
  });

  test('compares bursts with the limit, and shows only what was measured', () => {
    const text = summaryOf(
      resultsWith([
        { ...CONTENDER, bursts: [burstIn(500)] },
        { ...CONTENDER, id: 'sched-sqlite', name: 'Sched', bursts: [burstIn(1_000)] },
      ]),
    );
    expect(text).toMatch(/the limit +10000 +1\.00 +0\.20/);
    expect(text).toMatch(/Sched +5000 +0\.50 +0\.20/);
    expect(text).not.toContain('creates  ');
    expect(text).not.toContain('burst 20k');
  });

  test('says how many arrived where not all did, and what else went wrong', () => {
    const text = summaryOf(
      resultsWith([
        { ...CONTENDER, name: 'slow', bursts: [burstIn(1_000, 800)] },
        { ...CONTENDER, name: 'gone', remarks: ['not run: no redis-server is installed'] },
      ]),
    );
    expect(text).toContain('800 only');
    expect(text).toContain('gone: not run: no redis-server is installed');
  });

  test('shows the healthy customer beside its neighbours, and no contenders that did not take part', () => {
    const lines = [neighbourLine('postgres', 'filters', 20, { slotsLost: 1 })];
    const neighbour = { lines, remarks: ['round 2 was left out'] };
    const text = summaryOf({ ...resultsWith([CONTENDER]), neighbour });
    expect(text).toMatch(/PostgreSQL: filters that find nothing +10\.6 .* 0\/0\/0 +3 +0 +12 /);
    expect(text).toContain('round 2 was left out');
    expect(text).not.toContain('the limit');
  });

  test('compares creates with the bare route', () => {
    const round = { failed: 0, p50Ms: 1, p99Ms: 2, cpuMicrosEach: 40, databaseCpuMicrosEach: 60 };
    const text = summaryOf(
      resultsWith([
        { ...CONTENDER, id: 'bare-route', name: 'bare', creates: [{ ...round, perSecond: 20_000 }] },
        { ...CONTENDER, id: 'agenda', name: 'agenda', creates: [{ ...round, perSecond: 5_000, failed: 3 }] },
      ]),
    );
    expect(text).toMatch(/agenda +5000 +0\.25 +40 +60 +0\/0\/3/);
  });
});
