import { expect, test } from 'vitest';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { PeopleStore } from '#src/ports/people-store.ts';
import { PeopleCleaner } from './people-cleaner.ts';

const START = instant(Date.UTC(2026, 10, 15, 8));
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type PruneCall = readonly [Instant, Instant, Instant, Instant, Instant | null];

/** A cleaner with timers that the test fires. */
function openCleaner(retentionMs: number, answers: ('done' | 'more' | Error)[] = []) {
  let now = START;
  const due: { act: () => void; ms: number }[] = [];
  const pruned: PruneCall[] = [];
  const warned: string[] = [];
  const people = {
    prunePeople: async (...given: PruneCall) => {
      pruned.push(given);
      const answer = answers.shift() ?? 'done';
      if (answer instanceof Error) throw answer;
      return answer;
    },
  } as unknown as PeopleStore;
  const said = (_: unknown, line: string) => void warned.push(line);
  const log = { debug: said, info: said, warn: said, error: said };
  const timers = {
    after: (ms: number, act: () => void) => {
      const timer = { act, ms };
      due.push(timer);
      return () => void due.splice(due.indexOf(timer), 1);
    },
  };
  const cleaner = new PeopleCleaner({ people, clock: { now: () => now }, timers, log }, retentionMs);
  return {
    cleaner,
    pruned,
    warned,
    due,
    /** Fires the next timer. The clock moves by its wait and by `more`. */
    next: async (more = 0) => {
      const timer = due.shift();
      now = instant(now + (timer?.ms ?? 0) + more);
      timer?.act();
      await new Promise(setImmediate);
      return now;
    },
  };
}

test('a minute after the start and then every hour, old rows are removed', async () => {
  const { cleaner, pruned, next } = openCleaner(30 * DAY_MS);
  cleaner.start();
  const first = await next();
  expect(first).toBe(START + 60_000);
  expect(pruned).toEqual([
    [first, first - 8 * HOUR_MS, first - DAY_MS, first - 30 * DAY_MS, first - 30 * DAY_MS],
  ]);
  expect((await next()) - first).toBe(HOUR_MS);
  expect(pruned).toHaveLength(2);
  await cleaner.stop();
});

test('with a retention of 0 the audit log is kept forever', async () => {
  const { cleaner, pruned, next } = openCleaner(0);
  cleaner.start();
  await next();
  expect(pruned[0]?.[4]).toBeNull();
  await cleaner.stop();
});

test('it continues after a pause until nothing is left, and a failure is logged and retried in an hour', async () => {
  const { cleaner, pruned, warned, next } = openCleaner(0, ['more', 'more', 'done', new Error('full')]);
  cleaner.start();
  for (let i = 0; i < 3; i++) await next();
  expect(pruned).toHaveLength(3);
  await next();
  expect(warned).toEqual(['old sessions and audit entries could not be removed']);
  await next();
  expect(pruned).toHaveLength(5);
  await cleaner.stop();
});

test('after the clock was set ahead, no audit entry is removed for an hour', async () => {
  const { cleaner, pruned, next } = openCleaner(DAY_MS);
  cleaner.start();
  await next(40 * DAY_MS);
  expect(pruned[0]?.[4]).toBeNull();
  await next();
  expect(pruned[1]?.[4]).not.toBeNull();
  await cleaner.stop();
});

test('it removes nothing more after it was stopped', async () => {
  const { cleaner, pruned, due } = openCleaner(0);
  cleaner.start();
  await cleaner.stop();
  expect(due).toEqual([]);
  expect(pruned).toEqual([]);
});
