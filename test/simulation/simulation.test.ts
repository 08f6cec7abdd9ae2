/**
 * A slice of `npm run sim`: always the same seeds, and the proof that the checkers can fail. Whoever reads a
 * failure here finds the command that shows it again in its message.
 */
import { expect, test } from 'vitest';
import { BUGS } from './bugs.ts';
import { PLACES } from './coverage.ts';
import { type Job, runJobs } from './pool.ts';
import type { RunResult } from './run.ts';

const SEEDS = 240;
const CALLS = 25;
const SPAN_MS_MAX = 2 * 3_600_000;
/** A bug that is not caught by so many seeds is not caught. */
const BUG_SEEDS_MAX = 40;

const shape = { calls: CALLS, spanMsMax: SPAN_MS_MAX };

function told({ seed, failure, trace }: RunResult): string {
  const again = `npm run sim -- --seed ${seed} --steps ${CALLS} --span ${SPAN_MS_MAX} --trace`;
  return `${failure?.checker}: ${failure?.message}\n${again}\n${trace.slice(-15).join('\n')}`;
}

let results: Promise<readonly RunResult[]> | null = null;
function allSeeds(): Promise<readonly RunResult[]> {
  results ??= runJobs(Array.from({ length: SEEDS }, (_, at): Job => ({ seed: at + 1, ...shape })));
  return results;
}

test(`${SEEDS} seeds keep every promise`, { timeout: 180_000 }, async () => {
  const failed = (await allSeeds()).filter(({ failure }) => failure !== null);
  expect(failed.map(told)).toEqual([]);
});

test('between them they have been everywhere', { timeout: 180_000 }, async () => {
  const seen = new Set((await allSeeds()).flatMap((result) => Object.keys(result.seen)));
  expect(PLACES.filter((place) => !seen.has(place))).toEqual([]);
});

test('the same seed is the same run, to the last line of its trace', { timeout: 60_000 }, async () => {
  const seeds = [7, 8, 9, 10];
  const once = await runJobs(seeds.map((seed) => ({ seed, ...shape })));
  const again = await runJobs(seeds.map((seed) => ({ seed, ...shape })));
  expect(again.map(({ digest }) => digest)).toEqual(once.map(({ digest }) => digest));
  expect(new Set(once.map(({ digest }) => digest)).size).toBe(seeds.length);
});

test('every deliberate bug is caught, by the checker whose promise it breaks', {
  timeout: 180_000,
}, async () => {
  const bugs = Object.entries(BUGS);
  const caught = await runJobs(
    bugs.map(([bug]): Job => ({ seed: 1, bug, seedsMax: BUG_SEEDS_MAX, ...shape })),
  );
  const verdicts = bugs.map(([name, { caughtBy }], at) => {
    const checker = caught[at]?.failure?.checker ?? 'nobody';
    return caughtBy.includes(checker)
      ? null
      : `${name}: caught by ${checker}: ${caught[at]?.failure?.message}`;
  });
  expect(verdicts.filter((verdict) => verdict !== null)).toEqual([]);
  expect(bugs.length).toBeGreaterThanOrEqual(12);
});
