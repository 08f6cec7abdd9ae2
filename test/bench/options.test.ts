/** The command line of the benchmark. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CONTENDER_IDS } from '../../bench/contender.ts';
import { CONTENDERS, QUICK_CONTENDERS } from '../../bench/contenders.ts';
import { BESIDE, HOSTILE } from '../../bench/neighbour/customers.ts';
import { RETRY_TEMPLATES, TEMPLATES } from '../../bench/neighbour/fill.ts';
import { commandOf, optionsOf, UsageError } from '../../bench/options.ts';
import { withBaseline } from '../../bench/sched/contenders.ts';

describe('the command line', () => {
  test('alone asks for everything, and for the report of it', () => {
    const options = optionsOf([]);
    expect(options.contenders).toEqual(CONTENDER_IDS);
    expect(options.workloads).toEqual([
      'paced',
      'burst',
      'creates',
      'recurring',
      'stored',
      'recovery',
      'citus',
      'neighbour',
      'start',
      'package',
      'costs',
    ]);
    expect(options).toMatchObject({ beside: BESIDE, stores: ['sqlite', 'postgres'], baseline: null });
    expect(options.scale).toMatchObject({ quick: false, rounds: 5, bursts: [5_000, 20_000] });
    expect(options).toMatchObject({ json: null, out: 'docs' });
  });

  test('quick is less of everything, and leaves the report as it is', () => {
    const options = optionsOf(['--quick']);
    expect(options.contenders).toEqual(QUICK_CONTENDERS);
    expect(options.workloads).toEqual(['paced', 'burst', 'creates', 'stored', 'citus', 'start']);
    expect(options.scale).toMatchObject({ quick: true, rounds: 1 });
    expect(options.out).toBeNull();
    expect(optionsOf(['--profile', 'p']).out).toBeNull();
  });

  test('takes lists in any order, and gives them in that of the report', () => {
    const options = optionsOf(['--only', 'agenda, limit', '--work', 'hanging,paced']);
    expect(options.contenders).toEqual(['limit', 'agenda']);
    expect(options.workloads).toEqual(['paced', 'hanging']);
    expect(options.out).toBeNull();
  });

  test('sets the rounds of every work, and where things are written', () => {
    const options = optionsOf(['--rounds', '7', '--json', 'a.json', '--profile', 'p', '--out', 'o']);
    expect(options.scale).toMatchObject({
      rounds: 7,
      recurring: { rounds: 7 },
      stored: { rounds: 7 },
      recovery: { rounds: 7 },
      neighbour: { rounds: 7 },
      package: { rounds: 7 },
      start: { rounds: 7 },
      citus: { rounds: 7, projects: 16 },
    });
    expect(options).toMatchObject({ json: 'a.json', profileDir: 'p', out: 'o' });
  });

  test('chooses the neighbours and their stores; alone is always measured', () => {
    const options = optionsOf(['--work', 'neighbour', '--beside', 'filters,paths', '--store', 'postgres']);
    expect(options.beside).toEqual(['alone', 'paths', 'filters']);
    expect(options.stores).toEqual(['postgres']);
    expect(options.out).toBeNull();
    expect(optionsOf(['--beside', 'all']).out).toBeNull();
  });

  test('takes a checkout as the baseline, and writes no report by itself then', () => {
    const root = join(import.meta.dirname, '../..');
    expect(optionsOf(['--baseline', root])).toMatchObject({ baseline: root, out: null });
  });

  test('makes the page from the results of earlier runs', () => {
    expect(optionsOf(['--page', 'a.json,b.json'])).toMatchObject({ page: ['a.json', 'b.json'], out: 'docs' });
    expect(optionsOf([]).page).toBeNull();
  });

  test.each([
    [['--beside', 'nobody'], /--beside: "nobody" is not one of /],
    [['--store', 'mysql'], /--store: "mysql" is not one of /],
    [['--baseline', import.meta.dirname], /--baseline must be the folder of a checkout/],
    [['--only', 'cron'], /--only: "cron" is not one of /],
    [['--work', ''], /--work: "" is not one of /],
    [['--rounds', '0'], /--rounds must be a whole number/],
    [['--rounds', 'many'], /--rounds must be a whole number/],
    [['--fast'], /--fast/],
    [['paced'], /paced/],
  ])('refuses %j and says why', (args, message) => {
    expect(() => optionsOf(args)).toThrow(UsageError);
    expect(() => optionsOf(args)).toThrow(message);
  });
});

describe('the command that the report names', () => {
  test.each([
    [[], 'npm run bench'],
    [['--out', '/somewhere', '--json', 'a.json'], 'npm run bench'],
    [['--quick', '--rounds', '2'], 'npm run bench -- --quick --rounds 2'],
    [
      ['--work', 'neighbour', '--beside', 'paths', '--baseline', '.'],
      'npm run bench -- --work neighbour --beside alone,paths --baseline DIR',
    ],
    [['--work', 'burst,paced', '--only', 'limit'], 'npm run bench -- --only limit --work paced,burst'],
  ])('says what %j measures, and not where it is written to', (args, command) => {
    expect(commandOf(optionsOf(args))).toBe(command);
  });
});

describe('the contenders', () => {
  test('are those that the command line knows, in its order', () => {
    expect(CONTENDERS.map(({ id }) => id)).toEqual(CONTENDER_IDS);
  });
});

describe('the sizes of the work neighbour', () => {
  test.each([[[]], [['--quick']]])('are whole multiples of what is multiplied: %j', (args) => {
    const { sizes } = optionsOf(args).scale.neighbour;
    for (const customer of ['filters', 'burst', 'lists'] as const) {
      expect(sizes[customer] % TEMPLATES, customer).toBe(0);
    }
    expect(sizes.cancel % RETRY_TEMPLATES).toBe(0);
    for (const customer of HOSTILE) expect(sizes[customer], customer).toBeGreaterThan(0);
  });
});

describe('the contenders beside a baseline', () => {
  test('are followed by the same of the baseline, where they are Sched', () => {
    const root = join(import.meta.dirname, '../..');
    const chosen = CONTENDERS.filter(({ id }) => ['limit', 'sched-sqlite', 'sched-postgres-2'].includes(id));
    expect(withBaseline(chosen, root).map(({ id }) => id)).toEqual([
      'limit',
      'sched-sqlite',
      'baseline-sqlite',
      'sched-postgres-2',
      'baseline-postgres-2',
    ]);
  });
});
