import { expect, it } from 'vitest';
import { backoffMs, DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import { formatMs } from '../format.ts';
import { describeRetries, describeWaits } from './describe-policy.ts';

const DEFAULT = {
  max_attempts: 8,
  strategy: 'exponential',
  base: '5s',
  factor: 2,
  max: '1h',
  jitter: true,
} as const;

it('names the real waits: the first one is the base times the factor', () => {
  expect(describeRetries(DEFAULT)).toBe('up to 8 attempts, with waits of 10 s, 20 s, 40 s …, at most 1 h');
  const [first] = describeWaits(DEFAULT)?.split(', ') ?? [];
  expect(first).toBe(formatMs(backoffMs(DEFAULT_RETRY_POLICY, 1)));
});

it.each([
  [{ max_attempts: 3 }, '10 s, 20 s'],
  [{ max_attempts: 4, factor: 1 }, '5 s, 5 s, 5 s'],
  [{ max: '15s' }, '10 s, 15 s, 15 s …, at most 15 s'],
  [{ base: '1s', factor: 1.5, max_attempts: 3 }, '1.5 s, 2.25 s'],
  [{ base: '1.5ms', max_attempts: 2 }, '3 ms'],
  [{ base: '0', max_attempts: 2 }, '0 ms'],
])('with %o the waits are %s', (changes, words) => {
  expect(describeWaits({ ...DEFAULT, ...changes })).toBe(words);
});

it('names no waits where there are none or where a field cannot be read', () => {
  expect(describeRetries({ ...DEFAULT, max_attempts: 1 })).toBe('one attempt, no retries');
  for (const unreadable of [
    { base: 'soon' },
    { max: '' },
    { factor: Number.NaN },
    { max_attempts: Number.NaN },
  ])
    expect(describeWaits({ ...DEFAULT, ...unreadable })).toBeNull();
});
