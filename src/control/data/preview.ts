/** `POST preview` shows when a schedule would fire before it is created, and what clock changes do to it. */
import { SchedulePreview } from '#src/api/contract/bodies.ts';
import { readPreview } from '#src/api/read-bodies.ts';
import type { RunNoteInfo } from '#src/control/http/data-contract.ts';
import { fieldsAsGiven } from '#src/control/http/fields.ts';
import { type JsonBody, json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { cachedCron } from '#src/domain/cron.ts';
import { durationMs } from '#src/domain/duration.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { localRun, nextRunsOf, type Run, withNotes } from '#src/domain/run-notes.ts';
import type { Timing } from '#src/domain/schedule.ts';
import { DEFAULT_TIMEZONE, horizon } from '#src/domain/timing.ts';
import { isZone, parseLocalTime, spanAt } from '#src/domain/zone.ts';
import type { DataDependencies } from './dependencies.ts';
import { presentRun } from './present.ts';
import { DAY_MS } from './window.ts';

const RUNS_SHOWN = 10;
const CHANGES_WITHIN_MS = 366 * DAY_MS;
/** Only runs this near to a clock change can be affected by it. No clock changes by more. */
const CHANGE_NEAR_MS = 3 * 3_600_000;
/** One run in every minute around the change. */
const NEAR_RUNS_MAX = 361;

export function previewRoute({ commands: { clock } }: DataDependencies): ProjectRoute {
  return projectRoute('POST preview', {
    needs: 'viewer',
    body: fieldsAsGiven(SchedulePreview),
    handle: async ({ body }) => {
      const now = clock.now();
      const { timing, jitter } = readPreview(body, now);
      const timezone = zoneOf(timing, body);
      const more = jitterNotes(jitter);
      const runs = runsOf(timing, timezone, body, now);
      return json({
        timezone,
        runs: runs.map((run) => presentRun(run, more)),
        clock_changes: clockChanges(timing, timezone, runs.at(-1)?.at ?? now).map((run) => presentRun(run)),
      });
    },
  });
}

/** A one-time schedule has no timezone. If the request names one, the run is shown in it. */
function zoneOf({ timezone }: Timing, body: JsonBody): string {
  if (timezone !== null) return timezone;
  return typeof body.timezone === 'string' && isZone(body.timezone) ? body.timezone : DEFAULT_TIMEZONE;
}

function runsOf(timing: Timing, timezone: string, body: JsonBody, now: Instant): readonly Run[] {
  if (timing.kind === 'recurring') {
    const cron = cachedCron(timing.cron);
    return cron === null ? [] : nextRunsOf(cron, timezone, now, horizon(now), RUNS_SHOWN);
  }
  // A wall-clock time gets a note if a clock change moves it or makes it ambiguous.
  const local = typeof body.local_fire_at === 'string' ? parseLocalTime(body.local_fire_at) : null;
  return local === null ? withNotes(null, timezone, [timing.fireAt]) : [localRun(timezone, local)];
}

/**
 * A schedule made in November also runs in the night of the clock change in March, which the next ten runs do not show.
 */
function clockChanges(timing: Timing, timezone: string, after: Instant): readonly Run[] {
  const cron = timing.kind === 'recurring' ? cachedCron(timing.cron) : null;
  if (cron === null) return [];
  const changed: Run[] = [];
  const until = after + CHANGES_WITHIN_MS;
  for (let at = spanAt(timezone, after).end; at < until; at = spanAt(timezone, at).end) {
    const from = instant(Math.max(after, at - CHANGE_NEAR_MS));
    const near = nextRunsOf(cron, timezone, from, instant(at + CHANGE_NEAR_MS), NEAR_RUNS_MAX);
    const first = near.find(({ notes }) => notes.some(({ kind }) => kind === 'gap' || kind === 'fold'));
    if (first !== undefined) changed.push(first);
  }
  return changed;
}

function jitterNotes(jitter: string | null): readonly RunNoteInfo[] {
  if (jitter === null || (durationMs(jitter) ?? 0) <= 0) return [];
  return [{ kind: 'jitter', text: `fires up to ${jitter} earlier or later, the same way each time` }];
}
