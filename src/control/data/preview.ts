/** `POST preview`: when a schedule would fire that is only thought of, and what clock changes do to it. */
import { readPreview } from '#src/api/read-bodies.ts';
import type { Preview, RunNoteInfo } from '#src/control/http/contract.ts';
import { type JsonBody, json, type ProjectAsked, type Route } from '#src/control/http/route.ts';
import { cachedCron } from '#src/domain/cron.ts';
import { durationMs } from '#src/domain/duration.ts';
import type { Instant } from '#src/domain/instant.ts';
import { localRun, nextRunsOf, noted, type Run } from '#src/domain/run-notes.ts';
import type { Timing } from '#src/domain/schedule.ts';
import { DEFAULT_TIMEZONE, horizon } from '#src/domain/timing.ts';
import { isZone, parseLocalTime } from '#src/domain/zone.ts';
import { presentRun } from './runs.ts';
import type { DataWorld } from './world.ts';

const RUNS_SHOWN = 10;

export function previewRoute({ commands: { clock } }: Pick<DataWorld, 'commands'>): Route<ProjectAsked> {
  return {
    method: 'POST',
    path: 'preview',
    needs: 'viewer',
    audited: null,
    answer: async ({ body }) => {
      const now = clock.now();
      const { timing, jitter } = readPreview(body, now);
      const timezone = zoneOf(timing, body);
      const more = jitterNotes(jitter);
      const preview: Preview = {
        timezone,
        runs: runsOf(timing, timezone, body, now).map((run) => presentRun(run, more)),
      };
      return json(preview);
    },
  };
}

/** An instant has no zone; the one that was given besides is the one it is shown in. */
function zoneOf({ timezone }: Timing, body: JsonBody): string {
  if (timezone !== null) return timezone;
  return typeof body.timezone === 'string' && isZone(body.timezone) ? body.timezone : DEFAULT_TIMEZONE;
}

function runsOf(timing: Timing, timezone: string, body: JsonBody, now: Instant): readonly Run[] {
  if (timing.kind === 'recurring') {
    const cron = cachedCron(timing.cron);
    return cron === null ? [] : nextRunsOf(cron, timezone, now, horizon(now), RUNS_SHOWN);
  }
  // Of a wall-clock time it is told what the clock does to it.
  const local = typeof body.local_fire_at === 'string' ? parseLocalTime(body.local_fire_at) : null;
  return local === null ? noted(null, timezone, [timing.fireAt]) : [localRun(timezone, local)];
}

function jitterNotes(jitter: string | null): readonly RunNoteInfo[] {
  if (jitter === null || (durationMs(jitter) ?? 0) <= 0) return [];
  return [{ kind: 'jitter', text: `fires up to ${jitter} earlier or later, the same way each time` }];
}
