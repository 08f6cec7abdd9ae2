import { expect, test } from 'vitest';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { PeopleStore } from '#src/ports/people-store.ts';
import { PeopleCleaner } from './people-cleaner.ts';

const START = instant(Date.UTC(2026, 10, 15, 8));
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Asked = readonly [Instant, Instant, Instant, Instant, Instant | null];

/** A cleaner whose hour has come when the test says so. */
function bench(retentionMs: number, answers: ('done' | 'more' | Error)[] = []) {
  let now = START;
  const due: { act: () => void; ms: number }[] = [];
  const asked: Asked[] = [];
  const warned: string[] = [];
  const people = {
    prunePeople: async (...given: Asked) => {
      asked.push(given);
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
    asked,
    warned,
    due,
    /** Lets the next timer come, its time having passed and `more` besides. */
    next: async (more = 0) => {
      const timer = due.shift();
      now = instant(now + (timer?.ms ?? 0) + more);
      timer?.act();
      await new Promise(setImmediate);
      return now;
    },
  };
}

test('a minute after the start and then every hour, what is over is removed', async () => {
  const { cleaner, asked, next } = bench(30 * DAY_MS);
  cleaner.start();
  const first = await next();
  expect(first).toBe(START + 60_000);
  expect(asked).toEqual([
    [first, first - 8 * HOUR_MS, first - DAY_MS, first - 30 * DAY_MS, first - 30 * DAY_MS],
  ]);
  expect((await next()) - first).toBe(HOUR_MS);
  expect(asked).toHaveLength(2);
  await cleaner.stop();
});

test('with no retention the audit log is kept for ever', async () => {
  const { cleaner, asked, next } = bench(0);
  cleaner.start();
  await next();
  expect(asked[0]?.[4]).toBeNull();
  await cleaner.stop();
});

test('where there is more, it goes on after a pause; a failure is told, and the next hour tries again', async () => {
  const { cleaner, asked, warned, next } = bench(0, ['more', 'more', 'done', new Error('full')]);
  cleaner.start();
  for (let i = 0; i < 3; i++) await next();
  expect(asked).toHaveLength(3);
  await next();
  expect(warned).toEqual(['old sessions and audit entries could not be removed']);
  await next();
  expect(asked).toHaveLength(5);
  await cleaner.stop();
});

test('a clock that was set ahead removes nothing of the audit log for an hour', async () => {
  const { cleaner, asked, next } = bench(DAY_MS);
  cleaner.start();
  await next(40 * DAY_MS);
  expect(asked[0]?.[4]).toBeNull();
  await next();
  expect(asked[1]?.[4]).not.toBeNull();
  await cleaner.stop();
});

test('once stopped, it asks for nothing more', async () => {
  const { cleaner, asked, due } = bench(0);
  cleaner.start();
  await cleaner.stop();
  expect(due).toEqual([]);
  expect(asked).toEqual([]);
});
