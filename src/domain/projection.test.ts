import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Builders, DAY_MS, HOUR_MS, MINUTE_MS } from '#test/store-contract/builders.ts';
import { type Instant, instant } from './instant.ts';
import { nextRuns, type Occurrence } from './occurrence.ts';
import type { Partition } from './project.ts';
import { fastForward, nextRun, pendingRun } from './projection.ts';
import type { Schedule } from './schedule.ts';
import * as life from './schedule-lifecycle.ts';

const CRONS = ['* * * * *', '*/7 * * * *', '0 * * * *', '30 2 * * *', '0 9 * * MON-FRI', '15 1 31 * *'];
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'];
const JITTERS = [null, '30s', '10m', '3h'];

const given = fc.record({
  cron: fc.constantFrom(...CRONS),
  timezone: fc.constantFrom(...ZONES),
  jitter: fc.constantFrom(...JITTERS),
  startedMs: fc.integer({ min: 0, max: 400 * DAY_MS }),
});

function made({
  cron,
  timezone,
  jitter,
  startedMs,
}: {
  readonly cron: string;
  readonly timezone: string;
  readonly jitter: string | null;
  readonly startedMs: number;
}) {
  const build = new Builders(1 as Partition);
  build.tick(startedMs);
  return { build, ...build.schedule({ timing: { kind: 'recurring', cron, timezone }, jitter }) };
}

function runsFrom(schedule: Schedule, first: Occurrence, count: number): readonly Instant[] {
  const runs: Instant[] = [];
  for (let run: Occurrence | null = first; runs.length < count; ) {
    run = nextRun(schedule, run);
    if (run === null) break;
    runs.push(run.firesAt);
  }
  return runs;
}

describe('the projected runs', () => {
  test('equal the next runs of the API', () => {
    fc.assert(
      fc.property(given, (asked) => {
        const { schedule, pending } = made(asked);
        const [, ...later] = nextRuns({ schedule, pending, profile: null });
        const waiting = { occurrence: pending.occurrence, dueAt: pending.scheduledFor };
        expect(runsFrom(schedule, pendingRun(schedule, waiting), later.length)).toEqual(later);
      }),
      { numRuns: 100 },
    );
  });

  test('equal the runs that fire, one claim after the other', () => {
    fc.assert(
      fc.property(given, (asked) => {
        const { build, schedule, pending } = made(asked);
        const projected = runsFrom(
          schedule,
          pendingRun(schedule, { ...pending, dueAt: pending.scheduledFor }),
          12,
        );
        const fired: Instant[] = [];
        let now = { schedule, pending };
        while (fired.length < projected.length) {
          const advance = life.advance(
            now.schedule,
            null,
            now.pending,
            build.ids.mint('dlv', now.pending.scheduledFor),
            now.pending.scheduledFor,
          );
          if (advance === null) break;
          now = { schedule: { ...now.schedule, ...advance.schedule }, pending: advance.next };
          fired.push(advance.next.scheduledFor);
        }
        expect(fired).toEqual(projected);
      }),
      { numRuns: 60 },
    );
  });

  test('are the same from any start', () => {
    fc.assert(
      fc.property(given, fc.integer({ min: 0, max: 100 }), (asked, minutes) => {
        const { schedule, pending } = made({ ...asked, cron: '*/7 * * * *' });
        const first = pendingRun(schedule, { ...pending, dueAt: pending.scheduledFor });
        const from = instant(pending.scheduledFor + minutes * MINUTE_MS);
        const all = runsFrom(schedule, first, 30).filter((at) => at >= from);
        const short = runsFrom(schedule, fastForward(schedule, first, from), 30).filter((at) => at >= from);
        expect(short.slice(0, 5)).toEqual(all.slice(0, 5));
      }),
      { numRuns: 60 },
    );
  });

  test('continue after the instant that a moved delivery stands for', () => {
    const { build, schedule, pending } = made({
      cron: '0 * * * *',
      timezone: 'UTC',
      jitter: null,
      startedMs: 1,
    });
    const timing = build.oneShot(90 * MINUTE_MS);
    const change = life.reschedule({ schedule, pending, profile: null }, timing, build.now);
    const moved = change?.pending;
    if (change === null || moved === null || moved === undefined) throw new Error('It could not be moved.');
    const first = pendingRun(change.schedule, { ...moved, dueAt: moved.scheduledFor });
    expect(runsFrom(change.schedule, first, 1)).toEqual([instant(pending.scheduledFor + HOUR_MS)]);
  });

  test('are none for a one-shot', () => {
    const build = new Builders(1 as Partition);
    const { schedule, pending } = build.schedule();
    expect(nextRun(schedule, pendingRun(schedule, { ...pending, dueAt: pending.scheduledFor }))).toBeNull();
  });
});
