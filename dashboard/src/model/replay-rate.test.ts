import { expect, it } from 'vitest';
import { addSample, ratePerSecond, remainingMs, type Sample } from './replay-rate.ts';

const after = (...samples: readonly Sample[]) => samples.reduce<readonly Sample[]>(addSample, []);

it('the rate is what was replayed in the last ten seconds', () => {
  const seen = after(
    { atMs: 0, replayed: 0 },
    { atMs: 5_000, replayed: 100 },
    { atMs: 15_000, replayed: 200 },
  );
  expect(ratePerSecond(seen)).toBe(10);
});

it('nothing is said before there is something to compare', () => {
  expect(ratePerSecond([])).toBeNull();
  expect(ratePerSecond(after({ atMs: 0, replayed: 5 }, { atMs: 100, replayed: 6 }))).toBeNull();
  expect([remainingMs(null, 5), remainingMs(0, 5)]).toEqual([null, null]);
});

it('what is left takes as long as the rate says', () => {
  expect(remainingMs(10, 600)).toBe(60_000);
});
