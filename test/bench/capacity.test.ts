/** The command line, the answer and the page of the model of capacity. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answerOf, answerOn, answerText } from '../../bench/capacity/answer.ts';
import {
  CAPACITY_USAGE,
  type CapacityOptions,
  capacityCommandOf,
} from '../../bench/capacity/command-line.ts';
import { readCosts } from '../../bench/capacity/costs.ts';
import { pageOf } from '../../bench/capacity/page.ts';
import { bytesText, numberText, rateText } from '../../bench/capacity/words.ts';
import { UsageError } from '../../bench/options.ts';

const COSTS = readCosts();

function optionsOf(line: string): CapacityOptions {
  const command = capacityCommandOf(line.split(' '));
  if (command.kind !== 'answer') throw new Error(command.kind);
  return command.options;
}

describe('the command line of the model', () => {
  test('reads sizes, durations, shares and numbers', () => {
    const options = optionsOf(
      '--rate 50,000 --body 2KB --retention 168h --retries 10% --answer 250ms --wal 1.5GB',
    );
    expect(options.load).toMatchObject({
      rate: 50_000,
      bodyBytes: 2_000,
      retentionSeconds: 604_800,
      retries: 0.1,
      answerSeconds: 0.25,
    });
    expect(options.capabilities.walBytesPerSecond).toBe(1.5e9);
    expect(options.given).toContain('walBytesPerSecond');
    expect(options.given).not.toContain('diskBytes');
  });

  test.each([
    ['--body 2KB', '--rate is missing'],
    ['--rate many', '--rate must be a number above 0'],
    ['--rate 0', '--rate must be a number above 0'],
    ['--rate -5', 'rate'],
    ['--rate 1e99', '--rate must be a number'],
    ['--rate 5 --body 3XB', '--body must be a size'],
    ['--rate 5 --body 1GB', '--body must be a size of at least 0 and at most 262144 bytes'],
    ['--rate 5 --retention 0', '--retention must be a duration above 0'],
    ['--rate 5 --retention 7d', '--retention must be a duration'],
    ['--rate 5 --retries 5000%', '--retries must be a number of at least 0 and at most 49'],
    ['--rate 5 --load 2', '--load must be a number above 0 and at most 1'],
    ['--rate 5 --store mysql', '--store: "mysql" is not one of sqlite, postgres, citus.'],
    ['--rate 5 --database-cores 0', '--database-cores must be a number above 0'],
    ['--rate 5 --bodies 2KB', '--bodies'],
    ['--rate 5 more', 'more'],
  ])('refuses %s', (line, message) => {
    expect(() => capacityCommandOf(line.split(' '))).toThrow(UsageError);
    expect(() => capacityCommandOf(line.split(' '))).toThrow(message);
  });

  test('explains every option', () => {
    expect(capacityCommandOf(['--help'])).toEqual({ kind: 'help' });
    for (const name of [
      'rate',
      'body',
      'retention',
      'retries',
      'creates',
      'answer',
      'new-connections',
      'store',
    ]) {
      expect(CAPACITY_USAGE).toContain(`--${name} `);
    }
  });
});

describe('the answer', () => {
  test('is about the smallest store that carries the load', () => {
    expect(answerOf(COSTS, optionsOf('--rate 1')).store).toBe('sqlite');
    expect(answerOf(COSTS, optionsOf('--rate 20000')).store).not.toBe('sqlite');
  });

  test('says what breaks, and what one does then', () => {
    const options = optionsOf('--rate 1000000 --store postgres');
    const answer = answerOn(COSTS, 'postgres', options);
    expect(answer.isCarried).toBe(false);
    const text = answerText(answer, options);
    expect(text).toContain('1,000,000 deliveries a second on PostgreSQL: not carried');
    expect(text).toContain('second installation');
  });

  test('never needs less for more', () => {
    for (const line of [
      '--retries 50%',
      '--body 20KB',
      '--creates 3',
      '--new-connections 100%',
      '--answer 5s',
    ]) {
      const [few, more] = ['', ` ${line}`].map((rest) =>
        answerOn(COSTS, 'postgres', optionsOf(`--rate 5000${rest}`)),
      );
      expect(more?.needs.nodes ?? 0).toBeGreaterThanOrEqual(few?.needs.nodes ?? 0);
      expect(more?.needs.databaseCores ?? 0).toBeGreaterThanOrEqual(few?.needs.databaseCores ?? 0);
      expect(more?.limits[0]?.rate ?? 0).toBeLessThanOrEqual(few?.limits[0]?.rate ?? 0);
    }
  });
});

describe('the page', () => {
  test('is written from the costs beside it, and has no figure that could not be calculated', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/capacity.md'), 'utf8');
    expect(page === pageOf(COSTS), 'Write it again: npm run capacity -- --page').toBe(true);
    expect(page).not.toMatch(/NaN|undefined|Infinity|null/);
  });
});

test('numbers are rounded for readers', () => {
  expect(numberText(1_234.5)).toBe('1,235');
  expect(numberText(0.01234)).toBe('0.012');
  expect(rateText(12_345)).toBe('12,000');
  expect(rateText(Number.POSITIVE_INFINITY)).toBe('never');
  expect(bytesText(1_500_000)).toBe('1.5 MB');
  expect(bytesText(100)).toBe('100 bytes');
});
