import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Builders, DAY_MS, HOUR_MS, HOURLY, MINUTE_MS, seededBytes } from '#test/store-contract/builders.ts';
import { cachedCron, nextOccurrence, parseCron } from './cron.ts';
import { durationMs } from './duration.ts';
import { IdMint } from './id.ts';
import { formatInstant, type Instant, instant, parseInstant } from './instant.ts';
import {
  hasOccurrence,
  jitterMs,
  NEXT_RUNS,
  nextOccurrenceOf,
  nextRuns,
  type Occurrence,
  pendingFireAt,
  type Recurrence,
  withJitter,
} from './occurrence.ts';
import type { Partition } from './project.ts';
import type { ScheduleView, Timing } from './schedule.ts';
import * as life from './schedule-lifecycle.ts';

const NOW = at('2026-11-15T08:00:00Z');
const ids = new IdMint(seededBytes(7));
const ID = ids.mint('sch', NOW);

function at(text: string): Instant {
  const parsed = parseInstant(text);
  if (parsed === null) throw new Error(`${text} is no instant.`);
  return parsed;
}

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Africa/Cairo',
  'Asia/Kolkata',
];

const field = (values: readonly string[]) => fc.constantFrom('*', ...values);
const crons = fc
  .tuple(
    field(['0', '30', '*/15', '7,37', '5/20', '10-12']),
    field(['*/3', '2', '0,12', '9-17']),
    field(['1', '*/2', '28-31']),
    field(['1-6', 'JAN,MAR,OCT,NOV', '*/2']),
    field(['MON-FRI', '0', '7,3']),
  )
  .map((fields) => fields.join(' '));
const jitters = fc.option(fc.constantFrom('0', '1s', '90s', '10m', '1h', '26h'));
const instants = fc
  .integer({ min: at('2026-01-01T00:00:00Z'), max: at('2030-12-31T00:00:00Z') })
  .map(instant);

describe('the jitter of an occurrence', () => {
  test('is the same wherever and whenever it is computed', () => {
    const mint = new IdMint(() => new Uint8Array(10));
    const id = mint.mint('sch', NOW);
    expect([0, 1, 2].map((hours) => jitterMs(id, instant(NOW + hours * HOUR_MS), '10m'))).toEqual([
      -43_983, -312_287, 492_199,
    ]);
  });

  test('is within plus or minus the window, both ends included', () => {
    const offsets = new Set<number>();
    for (let i = 0; i < 2_000; i++) offsets.add(jitterMs(ID, instant(NOW + i), '3ms'));
    expect([...offsets].toSorted((a, b) => a - b)).toEqual([-3, -2, -1, 0, 1, 2, 3]);
  });

  test('is spread evenly', () => {
    const BINS = 20;
    const SAMPLES = 20_000;
    const windowMs = 600_000;
    const counts = Array.from({ length: BINS }, () => 0);
    for (let i = 0; i < SAMPLES; i++) {
      const offset = jitterMs(ID, instant(NOW + i * MINUTE_MS), '10m');
      const bin = Math.floor(((offset + windowMs) / (2 * windowMs + 1)) * BINS);
      counts[bin] = (counts[bin] ?? 0) + 1;
    }
    const expected = SAMPLES / BINS;
    const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // With 19 degrees of freedom the value is above 43.8 once in a thousand. The hash is fixed, so the test is stable.
    expect(chiSquare).toBeLessThan(43.8);
  });

  test('differs from schedule to schedule', () => {
    const offsets = Array.from({ length: 100 }, () => jitterMs(ids.mint('sch', NOW), NOW, '1h'));
    expect(new Set(offsets).size).toBeGreaterThan(95);
  });

  test.for([null, '0', '0s', '999us'])('is zero for a window of %s', (window) => {
    expect(jitterMs(ID, NOW, window)).toBe(0);
  });

  test('never moves a fire into the past: the occurrence then fires at once', () => {
    for (let i = 0; i < 200; i++) {
      const nominal = instant(NOW + i);
      const { firesAt } = withJitter(ID, nominal, '1h', NOW);
      expect(firesAt).toBe(Math.max(NOW, nominal + jitterMs(ID, nominal, '1h')));
    }
  });
});

describe('the next occurrence', () => {
  /** Tries every occurrence after `last`, until one is not missed. */
  function byWalking(recurrence: Recurrence, last: Instant, now: Instant): Occurrence | null {
    const cron = parseCron(recurrence.cron);
    if (cron === null) return null;
    const until = instant(now + 10_000 * DAY_MS);
    for (let after = last; ; ) {
      const nominal = nextOccurrence(cron, recurrence.timezone, after, until);
      if (nominal === null) return null;
      const firesAt = nominal + jitterMs(recurrence.id, nominal, recurrence.jitter);
      if (nominal > now || firesAt > now) return { nominal, firesAt: instant(Math.max(firesAt, now)) };
      after = nominal;
    }
  }

  test('is the first after the last one that is not missed', () => {
    fc.assert(
      fc.property(
        crons,
        fc.constantFrom(...ZONES),
        fc.option(fc.constantFrom('0', '1s', '10m', '45m')),
        instants,
        fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }),
        (cron, timezone, jitter, last, agoMs) => {
          const recurrence = { id: ID, cron, timezone, jitter };
          const now = instant(last + agoMs);
          expect(nextOccurrenceOf(recurrence, last, now)).toEqual(byWalking(recurrence, last, now));
        },
      ),
      { numRuns: 400, seed: 1 },
    );
  });

  test('is after the last one and not in the past, with any jitter', () => {
    fc.assert(
      fc.property(
        crons,
        jitters,
        instants,
        fc.integer({ min: 0, max: 30 * DAY_MS }),
        (cron, jitter, last, lateMs) => {
          const now = instant(last + lateMs);
          const next = nextOccurrenceOf({ id: ID, cron, timezone: 'UTC', jitter }, last, now);
          if (next === null) throw new Error(`${cron} goes on.`);
          const windowMs = durationMs(jitter ?? '0') ?? 0;
          expect(next.nominal).toBeGreaterThan(last);
          expect(next.nominal).toBeGreaterThan(now - windowMs - 1);
          expect(next.firesAt).toBeGreaterThanOrEqual(now);
          expect(next.firesAt).toBe(Math.max(now, next.nominal + jitterMs(ID, next.nominal, jitter)));
        },
      ),
      { numRuns: 1_000, seed: 2 },
    );
  });

  test('can be eight years away', () => {
    const leapDay = { id: ID, cron: '0 0 29 2 *', timezone: 'UTC', jitter: null };
    const last = at('2096-02-29T00:00:00Z');
    expect(nextOccurrenceOf(leapDay, last, last)?.nominal).toBe(at('2104-02-29T00:00:00Z'));
  });

  test('does not exist without such a date or expression', () => {
    expect(
      nextOccurrenceOf({ id: ID, cron: '0 0 30 2 *', timezone: 'UTC', jitter: null }, NOW, NOW),
    ).toBeNull();
    expect(nextOccurrenceOf({ id: ID, cron: 'no cron', timezone: 'UTC', jitter: null }, NOW, NOW)).toBeNull();
  });
});

test('an expression has an occurrence up to an instant, or not', () => {
  const cron = cachedCron('0 0 1 1 *');
  if (cron === null) throw new Error('That is an expression.');
  const newYear = at('2027-01-01T00:00:00Z');
  expect(hasOccurrence(cron, 'UTC', NOW, newYear)).toBe(true);
  expect(hasOccurrence(cron, 'UTC', NOW, instant(newYear - 1))).toBe(false);
  expect(hasOccurrence(cron, 'UTC', newYear, instant(newYear + 300 * DAY_MS))).toBe(false);
});

describe('the next runs', () => {
  function viewOf(
    timing: Timing,
    jitter: string | null = null,
    build = new Builders(1 as Partition),
  ): ScheduleView {
    return { ...build.schedule({ timing, jitter }), profile: null };
  }

  test('of a recurrence are five', () => {
    expect(NEXT_RUNS).toBe(5);
    expect(nextRuns(viewOf(HOURLY)).map(formatInstant)).toEqual([
      '2026-11-15T09:00:00.000Z',
      '2026-11-15T10:00:00.000Z',
      '2026-11-15T11:00:00.000Z',
      '2026-11-15T12:00:00.000Z',
      '2026-11-15T13:00:00.000Z',
    ]);
  });

  test('follow daylight saving time', () => {
    const build = new Builders(1 as Partition);
    build.tick(at('2027-03-26T12:00:00Z') - build.now);
    const view = viewOf({ kind: 'recurring', cron: '30 2 * * *', timezone: 'Europe/Berlin' }, null, build);
    expect(nextRuns(view).map(formatInstant)).toEqual([
      '2027-03-27T01:30:00.000Z',
      '2027-03-28T01:00:00.000Z',
      '2027-03-29T00:30:00.000Z',
      '2027-03-30T00:30:00.000Z',
      '2027-03-31T00:30:00.000Z',
    ]);
  });

  test('of a one-shot are its instant while it waits', () => {
    const view = viewOf({ kind: 'one_shot', fireAt: instant(NOW + HOUR_MS), timezone: null }, '10m');
    const { pending } = view;
    if (pending === null) throw new Error('It has one.');
    expect(nextRuns(view)).toEqual([pending.scheduledFor]);
    const retry = { ...pending, status: 'retry_scheduled', dueAt: instant(NOW + 2 * HOUR_MS) } as const;
    expect(nextRuns({ ...view, pending: retry })).toEqual([retry.dueAt]);
    for (const status of ['claimed', 'paused', 'succeeded', 'dead_letter', 'expired', 'canceled'] as const) {
      expect(nextRuns({ ...view, pending: { ...pending, status } })).toEqual([]);
      expect(pendingFireAt({ ...view, pending: { ...pending, status } })).toBeNull();
    }
  });

  test('are none while the schedule is not active or its delivery is gone', () => {
    const view = viewOf(HOURLY);
    for (const state of ['paused', 'canceled', 'completed'] as const) {
      const other = { ...view, schedule: { ...view.schedule, state } };
      expect([nextRuns(other), pendingFireAt(other)]).toEqual([[], null]);
    }
    expect([nextRuns({ ...view, pending: null }), pendingFireAt({ ...view, pending: null })]).toEqual([
      [],
      null,
    ]);
  });

  test('are exactly those that fire, claim after claim, for any expression, zone and jitter, moved or not', () => {
    const moves = fc.option(fc.integer({ min: 1_000, max: 3 * DAY_MS }));
    fc.assert(
      fc.property(
        crons,
        fc.constantFrom(...ZONES),
        jitters,
        instants,
        moves,
        (cron, timezone, jitter, start, moveMs) => {
          const build = new Builders(1 as Partition);
          build.tick(start - build.now);
          let view = viewOf({ kind: 'recurring', cron, timezone }, jitter, build);
          if (moveMs !== null) {
            const moved = life.reschedule(view, build.oneShot(moveMs), start);
            if (moved === null) throw new Error('It can be moved.');
            view = { ...view, ...moved };
          }
          const previewed = nextRuns(view);
          const fired: Instant[] = [];
          while (fired.length < NEXT_RUNS) {
            const due = pendingFireAt(view);
            if (due === null || view.pending === null) throw new Error('It goes on.');
            fired.push(due);
            build.tick(due - build.now);
            const { advanced } = build.claim(view.pending, view);
            if (advanced === null) throw new Error('It goes on.');
            view = { ...view, schedule: { ...view.schedule, ...advanced.schedule }, pending: advanced.next };
          }
          expect(fired).toEqual(previewed);
        },
      ),
      { numRuns: 400, seed: 3 },
    );
  });
});
