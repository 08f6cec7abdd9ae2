/** The answer of `sched preview`. */

import { wrongUsage } from '#src/cli/failure.ts';
import type { Answer } from '#src/cli/terminal/output.ts';
import type { Screen } from '#src/cli/terminal/screen.ts';
import { cachedCron } from '#src/domain/cron.ts';
import { formatInstant, type Instant, instant, parseInstant } from '#src/domain/instant.ts';
import { localRun, nextRunsOf, type Run } from '#src/domain/run-notes.ts';
import { horizon, readTiming } from '#src/domain/timing.ts';
import { isZone, parseLocalTime } from '#src/domain/zone.ts';
import { cronFaultText } from '#src/texts/cron-fault-text.ts';
import { instantFaultText, localTimeFaultText } from '#src/texts/instant-fault-text.ts';
import { zoneFaultText } from '#src/texts/zone-fault-text.ts';
import { countedFrom, countedFromNow, runJson, runsText } from './run-text.ts';

export interface PreviewRequest {
  readonly cron: string | undefined;
  readonly local: string | undefined;
  readonly zone: string;
  readonly from: string | undefined;
  readonly count: number;
}

export interface Preview {
  readonly answer: Answer;
  /** A warning that the service would refuse this time. */
  readonly warning: string | null;
}

export function preview(asked: PreviewRequest, screen: Screen, nowMs: number): Preview {
  const { cron, local, zone, from, count } = asked;
  const now = from === undefined ? instant(nowMs) : instantOf(from, nowMs);
  if (!isZone(zone)) throw wrongUsage(zoneFaultText(zone, '--tz'));
  if ((cron === undefined) === (local === undefined))
    throw wrongUsage('Give either a cron expression, or a wall-clock time with --local.');
  const runs = cron === undefined ? [localTimeRun(local ?? '', zone, now)] : cronRuns(cron, zone, now, count);
  const refusal = local === undefined ? null : refusalOf(local, zone, now);
  return {
    answer: {
      json: {
        cron: cron ?? null,
        timezone: zone,
        from: formatInstant(now),
        runs: runs.map(runJson),
        refusal,
      },
      text: runsText(runs, zone, from === undefined ? countedFromNow(now) : countedFrom(now), screen),
    },
    warning: refusal && `The service would refuse this time: ${REFUSALS[refusal]}.`,
  };
}

const REFUSALS = {
  fire_at_in_past: 'it is in the past, or less than a second away',
  fire_at_too_far: 'it is more than 10 years away',
} as const;

/** The error code of the service for this time, or null if it accepts it. */
function refusalOf(local: string, zone: string, now: Instant): keyof typeof REFUSALS | null {
  const read = readTiming('local_fire_at', local, zone, now);
  if (read.ok) return null;
  return read.fault.code === 'fire_at_too_far' ? 'fire_at_too_far' : 'fire_at_in_past';
}

function instantOf(text: string, nowMs: number): Instant {
  const at = parseInstant(text);
  if (at === null) throw wrongUsage(instantFaultText(text, '--from', instant(nowMs)));
  return at;
}

function localTimeRun(text: string, zone: string, now: Instant): Run {
  const local = parseLocalTime(text);
  if (local === null) throw wrongUsage(localTimeFaultText(text, '--local', now));
  return localRun(zone, local);
}

function cronRuns(text: string, zone: string, now: Instant, count: number): readonly Run[] {
  const cron = cachedCron(text);
  // The service refuses an expression without an occurrence before the horizon. Later occurrences may lie beyond it.
  const runs = cron === null ? [] : nextRunsOf(cron, zone, now, horizon(now), count);
  if (runs.length === 0) throw wrongUsage(cronFaultText(text, 'The cron expression'));
  return runs;
}
