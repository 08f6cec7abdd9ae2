/** The runs of one day of a schedule: past ones with their status, and coming ones. */
import { plural } from '../format.ts';
import type { CalendarDay } from '../model/calendar-month.ts';
import { hrefInProject } from '../session.ts';
import { displayZone, formatInstant } from '../time.ts';
import { DELIVERY_BADGES, StateBadge } from './badge.tsx';
import { Icon } from './icon.tsx';

/** A schedule that fires every minute has 1,440 runs a day. */
const RUNS_SHOWN = 24;

export function DayRuns({ day, timezone }: { readonly day: CalendarDay; readonly timezone: string }) {
  if (day.past.length + day.coming.length === 0) {
    return <p class="text-dim">{day.hasMore ? 'Too many runs to show.' : 'No runs on this day.'}</p>;
  }
  const past = [...day.past].sort((a, b) => (a.at < b.at ? -1 : 1)).slice(0, RUNS_SHOWN);
  const coming = day.coming.slice(0, Math.max(0, RUNS_SHOWN - past.length));
  const left = day.past.length + day.coming.length - past.length - coming.length;
  return (
    <>
      <ul class="space-y-1.5">
        {past.map((run) => (
          <li key={run.delivery_id} class="flex flex-wrap items-center gap-2">
            <a class="link tabular-nums" href={hrefInProject(`deliveries/${run.delivery_id}`)}>
              {run.local.slice(11, 19)}
            </a>
            <StateBadge state={run.status} badges={DELIVERY_BADGES} />
            <span class="text-sm text-dim">
              {run.last_status_code === null ? '' : `${run.last_status_code} · `}
              {plural(run.attempt_count, 'attempt', 'attempts')}
              {timeForViewer(run.at, timezone)}
            </span>
          </li>
        ))}
        {coming.map((run) => (
          <li key={run.at}>
            <span class="tabular-nums">{run.local.slice(11, 19)}</span>{' '}
            <span class="text-sm text-dim">
              upcoming
              {timeForViewer(run.at, timezone)}
            </span>
            {run.notes.map((note) => (
              <p key={note.text} class="flex gap-1.5 text-sm text-warn">
                <Icon name="warning" size={14} className="mt-0.75" />
                {note.text}
              </p>
            ))}
          </li>
        ))}
      </ul>
      {left > 0 || day.hasMore ? (
        <p class="mt-2 text-sm text-dim">
          and {day.hasMore && left > 0 ? 'at least ' : ''}
          {left > 0 ? plural(left, 'more run') : 'more'}
        </p>
      ) : null}
    </>
  );
}

/** The time in the zone of the page, where it differs from the time in the zone of the schedule. */
function timeForViewer(at: string, timezone: string): string {
  const viewers = formatInstant(at, displayZone.value, 'minute');
  return viewers === formatInstant(at, timezone, 'minute') ? '' : `, ${viewers} ${displayZone.value}`;
}
