/** `GET schedules/:id/calendar` shows past deliveries and future runs of a schedule, over some weeks. */
import { requireFound } from '#src/commands/command.ts';
import type { Calendar } from '#src/control/http/data-contract.ts';
import { byId } from '#src/control/http/fields.ts';
import { json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { cachedCron } from '#src/domain/cron.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import { formatInstant, type Instant, instant } from '#src/domain/instant.ts';
import { type Occurrence, pendingFireAt } from '#src/domain/occurrence.ts';
import { fastForward, nextRun, pendingRun } from '#src/domain/projection.ts';
import { withNotes } from '#src/domain/run-notes.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import { DEFAULT_TIMEZONE } from '#src/domain/timing.ts';
import { toLocal } from '#src/domain/zone.ts';
import { wallClockText } from '#src/texts/run-text.ts';
import type { DataDependencies } from './dependencies.ts';
import { PROJECTED_MAX } from './forecast.ts';
import { moveRun, presentRun } from './present.ts';
import { TimeSlicer } from './time-slicer.ts';
import { DAY_MS, requireWindow, WINDOW_QUERY, type Window } from './window.ts';

const WINDOW = { defaultMs: 31 * DAY_MS, maxMs: 62 * DAY_MS };
/** The limit for past runs and for future runs, each. */
const RUNS_MAX = 2_000;

export function calendarRoute({ commands, insight, timers }: DataDependencies): ProjectRoute {
  const { store, clock } = commands;
  return projectRoute('GET schedules/:id/calendar', {
    needs: 'viewer',
    params: byId('sch'),
    query: WINDOW_QUERY,
    handle: async ({ params: { id }, query, partition }) => {
      const view = requireFound(await store.findSchedule(partition, id));
      const window = requireWindow(query, clock.now(), WINDOW);
      const occurrences = await insight.listOccurrences(partition, id, window.from, window.until, RUNS_MAX);
      const coming = await comingRuns(view, window, new TimeSlicer(timers, partition));
      const timezone = view.schedule.timing.timezone ?? DEFAULT_TIMEZONE;
      const { timing } = view.schedule;
      const cron = timing.kind === 'recurring' ? cachedCron(timing.cron) : null;
      const nominal = withNotes(
        cron,
        timezone,
        coming.runs.map((run) => run.nominal),
      );
      // The pending delivery is shown as the first future run.
      const pendingId = coming.runs.length > 0 ? view.pending?.id : undefined;
      return json({
        timezone,
        past: occurrences
          .filter((delivery) => delivery.id !== pendingId)
          .map((delivery) => presentPast(delivery, timezone)),
        coming: nominal.map((run, index) => {
          const firesAt = coming.runs[index]?.firesAt ?? run.at;
          return presentRun(firesAt === run.at ? run : moveRun(run, timezone, firesAt));
        }),
        incomplete_days: incompleteDays(timezone, window, clock.now(), occurrences, coming),
      });
    },
  });
}

interface Coming {
  readonly runs: readonly Occurrence[];
  readonly isComplete: boolean;
}

async function comingRuns(view: ScheduleView, { from, until }: Window, slicer: TimeSlicer): Promise<Coming> {
  const dueAt = pendingFireAt(view);
  if (dueAt === null || view.pending === null) return { runs: [], isComplete: true };
  const first = pendingRun(view.schedule, { ...view.pending, dueAt });
  const runs: Occurrence[] = dueAt >= from && dueAt < until ? [first] : [];
  let run: Occurrence | null = fastForward(view.schedule, first, from);
  for (let steps = 0; ; steps++) {
    if (slicer.isUsedUp) await slicer.pause();
    if (runs.length >= RUNS_MAX || steps >= PROJECTED_MAX) return { runs, isComplete: false };
    run = nextRun(view.schedule, run);
    if (run === null || run.firesAt >= until) return { runs, isComplete: true };
    if (run.firesAt >= from) runs.push(run);
  }
}

/** Both lists begin with the earliest run. So runs beyond the limit are on the day of the last listed one, or later. */
function incompleteDays(
  timezone: string,
  window: Window,
  now: Instant,
  occurrences: readonly Delivery[],
  coming: Coming,
): Calendar['incomplete_days'] {
  const day = (at: Instant) => wallClockText(toLocal(timezone, at)).slice(0, 10);
  const spans: Calendar['incomplete_days'][number][] = [];
  const last = occurrences.length < RUNS_MAX ? undefined : occurrences.at(-1);
  if (last !== undefined) {
    const until = instant(Math.min(window.until, now));
    spans.push({ from: day(last.scheduledFor), until: day(until) });
  }
  if (!coming.isComplete) {
    const from = coming.runs.at(-1)?.firesAt ?? window.from;
    spans.push({ from: day(from), until: day(window.until) });
  }
  return spans;
}

function presentPast(delivery: Delivery, timezone: string): Calendar['past'][number] {
  return {
    delivery_id: delivery.id,
    at: formatInstant(delivery.scheduledFor),
    local: wallClockText(toLocal(timezone, delivery.scheduledFor)),
    status: delivery.status,
    attempt_count: delivery.attemptCount,
    last_status_code: delivery.lastStatusCode,
  };
}
