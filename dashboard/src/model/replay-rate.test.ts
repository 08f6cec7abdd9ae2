import { expect, it } from 'vitest';
import { leftMs, look, perSecond, type Seen } from './replay-rate.ts';

const after = (...looks: readonly Seen[]) => looks.reduce<readonly Seen[]>(look, []);

it('the rate is what was replayed in the last ten seconds', () => {
  const seen = after(
    { atMs: 0, replayed: 0 },
    { atMs: 5_000, replayed: 100 },
    { atMs: 15_000, replayed: 200 },
  );
  expect(perSecond(seen)).toBe(10);
});

it('nothing is said before there is something to compare', () => {
  expect(perSecond([])).toBeNull();
  expect(perSecond(after({ atMs: 0, replayed: 5 }, { atMs: 100, replayed: 6 }))).toBeNull();
  expect([leftMs(null, 5), leftMs(0, 5)]).toEqual([null, null]);
});

it('what is left takes as long as the rate says', () => {
  expect(leftMs(10, 600)).toBe(60_000);
});
