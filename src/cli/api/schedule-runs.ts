/** The next runs of a schedule as the service gives them, with what its zone's clock does to them. */
import type { Schedule } from '#sdk/index.ts';
import type { Screen } from '#src/cli/terminal/screen.ts';
import { runsText } from '#src/cli/tools/run-text.ts';
import { cachedCron } from '#src/domain/cron.ts';
import { type Instant, parseInstant } from '#src/domain/instant.ts';
import { localRun, type Run, withNotes } from '#src/domain/run-notes.ts';
import { isZone, parseLocalTime } from '#src/domain/zone.ts';

/** `local` is the wall-clock time that was asked for, where it is known. */
export function nextRunsText(schedule: Schedule, local: string | null, screen: Screen, now: number): string {
  const { cron, jitter, next_runs } = schedule;
  const zone = schedule.timezone !== null && isZone(schedule.timezone) ? schedule.timezone : 'UTC';
  const instants = next_runs.flatMap((text) => parseInstant(text) ?? []);
  const asked = local === null ? null : askedRun(zone, local, instants);
  // With jitter none of them is the instant of the expression, and its notes do not fit.
  const runs =
    asked === null
      ? withNotes(cron === null || jitter !== null ? null : cachedCron(cron), zone, instants)
      : [asked, ...withNotes(null, zone, instants.slice(1))];
  return runsText(runs, zone, now, screen);
}

/** The first run as it was asked for; null where it is another instant. */
function askedRun(zone: string, text: string, [first]: readonly Instant[]): Run | null {
  const local = parseLocalTime(text);
  const run = local === null ? null : localRun(zone, local);
  return run !== null && run.at === first ? run : null;
}
