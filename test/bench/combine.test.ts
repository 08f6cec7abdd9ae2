/** One page from several runs. */
import { expect, test } from 'vitest';
import { combined } from '../../bench/combine.ts';
import { optionsOf } from '../../bench/options.ts';
import { reportOf } from '../../bench/report/report.ts';
import type { Results } from '../../bench/results.ts';
import { CANNED, contender } from './canned-results.ts';

const NOTHING = { paced: [], bursts: [], creates: [], recurring: [], remarks: [] };

/** A later run that measured only some of the work. */
function laterRun(changes: Partial<Results>): Results {
  return {
    ...CANNED,
    command: 'npm run bench -- --work some',
    contenders: [],
    stored: null,
    recovery: null,
    neighbour: null,
    package: null,
    start: null,
    citus: null,
    ...changes,
  };
}

test('a workload comes from the last run that measured it, with its size', () => {
  const stored = { lines: [], remarks: ['later'] };
  const scale = {
    ...CANNED.scale,
    stored: { sizes: [0, 7], rounds: 2, burst: 9 },
    recovery: { stored: 1, overdue: 1, rounds: 9 },
  };
  const both = combined([CANNED, laterRun({ stored, scale })]);
  expect(both).toMatchObject({ stored, recovery: CANNED.recovery });
  expect(both.scale).toMatchObject({ stored: scale.stored, recovery: CANNED.scale.recovery });
});

test('the contenders of one workload come from one run', () => {
  const slower = { ...contender('limit', 2), paced: [], bursts: [], remarks: ['again'] };
  const both = combined([
    CANNED,
    laterRun({ contenders: [slower, { ...contender('agenda', 9), ...NOTHING }] }),
  ]);
  const [limit, agenda] = ['limit', 'agenda'].map((id) => both.contenders.find((one) => one.id === id));
  const before = CANNED.contenders.find(({ id }) => id === 'limit');
  expect(limit).toMatchObject({ paced: before?.paced, creates: slower.creates, remarks: ['again'] });
  expect(agenda?.creates).toEqual([]);
  expect(agenda?.paced.length).toBeGreaterThan(0);
});

test('the page names each run', () => {
  const page = reportOf(combined([CANNED, laterRun({ scale: { ...CANNED.scale, rounds: 1 } })]));
  expect(page).toContain('| `npm run bench` |');
  expect(page).toContain('| `npm run bench -- --work some` |');
  expect(page).toContain('The medians of their rounds decide.');
});

test('baselines are left out', () => {
  const baseline = { ...contender('limit', 1), id: 'baseline-sqlite' as const, name: 'the version before' };
  const start = { lines: [{ store: 'sqlite', version: 'baseline', starts: [] } as const], remarks: [] };
  const both = combined([{ ...CANNED, start, contenders: [...CANNED.contenders, baseline] }]);
  expect(both.contenders.map(({ name }) => name)).not.toContain('the version before');
  expect(both.start?.lines).toEqual([]);
});

test('refuses runs that do not compare', () => {
  expect(() => combined([])).toThrow('There are no results.');
  expect(() => combined([{ ...CANNED, scale: optionsOf(['--quick']).scale }])).toThrow(/quick run/);
  const other = { ...CANNED, machine: { ...CANNED.machine, cores: 64 } };
  expect(() => combined([CANNED, other])).toThrow(/different machines: 2 × A processor, 64 × A processor/);
});
