/** Shows the next runs of a schedule with notes on the clock changes of its time zone. */
import type { Schedule } from '#sdk/index.ts';
import type { Screen } from '#src/cli/terminal/screen.ts';
import { countedFromNow, runsText } from '#src/cli/tools/run-text.ts';
import { cachedCron } from '#src/domain/cron.ts';
import { type Instant, parseInstant } from '#src/domain/instant.ts';
import { localRun, type Run, withNotes } from '#src/domain/run-notes.ts';
import { isZone, parseLocalTime } from '#src/domain/zone.ts';

/** `local` is the wall-clock time that the user typed, or null. */
export function nextRunsText(schedule: Schedule, local: string | null, screen: Screen, now: number): string {
  const { cron, jitter, next_runs } = schedule;
  const zone = schedule.timezone !== null && isZone(schedule.timezone) ? schedule.timezone : 'UTC';
  const instants = next_runs.flatMap((text) => parseInstant(text) ?? []);
  const requested = local === null ? null : requestedRun(zone, local, instants);
  // With jitter, no run is at the instant of the expression, so notes on the expression would be wrong.
  const runs =
    requested === null
      ? withNotes(cron === null || jitter !== null ? null : cachedCron(cron), zone, instants)
      : [requested, ...withNotes(null, zone, instants.slice(1))];
  return runsText(runs, zone, countedFromNow(now), screen);
}

/** The run at the wall-clock time that the user typed, or null if the first run is another instant. */
function requestedRun(zone: string, text: string, [first]: readonly Instant[]): Run | null {
  const local = parseLocalTime(text);
  const run = local === null ? null : localRun(zone, local);
  return run !== null && run.at === first ? run : null;
}
