import { expect, it } from 'vitest';
import { addSample, ratePerSecond, remainingMs, type Sample } from './replay-rate.ts';

const after = (...samples: readonly Sample[]) => samples.reduce<readonly Sample[]>(addSample, []);

it('the rate counts the last ten seconds', () => {
  const samples = after(
    { atMs: 0, replayed: 0 },
    { atMs: 5_000, replayed: 100 },
    { atMs: 15_000, replayed: 200 },
  );
  expect(ratePerSecond(samples)).toBe(10);
});

it('the rate is unknown until there are two samples', () => {
  expect(ratePerSecond([])).toBeNull();
  expect(ratePerSecond(after({ atMs: 0, replayed: 5 }, { atMs: 100, replayed: 6 }))).toBeNull();
  expect([remainingMs(null, 5), remainingMs(0, 5)]).toEqual([null, null]);
});

it('the remaining time follows from the rate', () => {
  expect(remainingMs(10, 600)).toBe(60_000);
});
