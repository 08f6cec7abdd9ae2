/**
 * A month of a schedule: past and coming runs, by the days of its own zone. On wide pages it is a grid with the selected
 * day beside it, and arrow keys move between days. On phones it is a list of the days with runs.
 */
import { useRef } from 'preact/hooks';
import type { Calendar } from '../../../src/control/http/data-contract.ts';
import { plural } from '../format.ts';
import { type CalendarDay, dateIn, monthOf, shiftDay, shiftMonth, weeksOf } from '../model/calendar-month.ts';
import { now } from '../time.ts';
import { DELIVERY_BADGES } from './badge.tsx';
import { Button } from './button.tsx';
import { DayRuns } from './day-runs.tsx';
import { Icon } from './icon.tsx';

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTH_NAME = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const DAY_NAME = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  timeZone: 'UTC',
});

interface MonthCalendarProps {
  readonly calendar: Calendar;
  readonly month: string;
  readonly day: string;
  readonly onDay: (day: string) => void;
}

export function MonthCalendar({ calendar, month, day, onDay }: MonthCalendarProps) {
  const weeks = weeksOf(month, calendar);
  const chosen = weeks.flat().find(({ date }) => date === day);
  return (
    <div>
      <div class="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h3 class="font-medium" aria-live="polite">
          {MONTH_NAME.format(Date.parse(`${month}-01`))}
        </h3>
        <div class="flex gap-1">
          <Button icon="left" label="Previous month" onClick={() => onDay(`${shiftMonth(month, -1)}-01`)} />
          <Button onClick={() => onDay(dateIn(calendar.timezone, now.peek()))}>Today</Button>
          <Button icon="right" label="Next month" onClick={() => onDay(`${shiftMonth(month, 1)}-01`)} />
        </div>
      </div>
      <div class="hidden items-start gap-4 sm:grid lg:grid-cols-[1fr_17rem]">
        <Grid weeks={weeks} day={day} onDay={onDay} today={dateIn(calendar.timezone, now.value)} />
        {chosen === undefined ? null : (
          <section aria-label="Selected day" class="min-w-0">
            <h4 class="mb-2 font-medium">{DAY_NAME.format(Date.parse(chosen.date))}</h4>
            <DayRuns day={chosen} timezone={calendar.timezone} />
          </section>
        )}
      </div>
      <Agenda weeks={weeks} timezone={calendar.timezone} />
      <p class="mt-3 text-sm text-dim">
        Days and times are in {calendar.timezone}.{' '}
        {calendar.incomplete_days.length === 0 ? '' : 'Days with … have more runs.'}
      </p>
    </div>
  );
}

const KEYS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

function Grid({
  weeks,
  day,
  today,
  onDay,
}: {
  readonly weeks: readonly (readonly CalendarDay[])[];
  readonly day: string;
  readonly today: string;
  readonly onDay: (day: string) => void;
}) {
  const table = useRef<HTMLTableElement>(null);
  const go = (date: string) => {
    onDay(date);
    // The day may be in another month, which must be rendered first.
    requestAnimationFrame(() => table.current?.querySelector<HTMLElement>(`[data-day="${date}"]`)?.focus());
  };
  const move = (event: KeyboardEvent) => {
    const step = KEYS[event.key];
    const byMonth = event.key === 'PageUp' ? -1 : event.key === 'PageDown' ? 1 : 0;
    if (step === undefined && byMonth === 0) return;
    event.preventDefault();
    go(step === undefined ? `${shiftMonth(monthOf(day), byMonth)}-01` : shiftDay(day, step));
  };
  return (
    <table ref={table} class="w-full table-fixed border-collapse" onKeyDown={move}>
      <caption class="sr-only">Days of the month. Arrow keys change the day, page keys the month</caption>
      <thead>
        <tr>
          {WEEKDAYS.map((name) => (
            <th key={name} scope="col" class="pb-1 text-left text-xs font-medium text-dim">
              <abbr title={name} class="no-underline">
                {name.slice(0, 3)}
              </abbr>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={week[0]?.date}>
            {week.map((one) => (
              <td key={one.date} class="border border-line p-0 align-top">
                <button
                  type="button"
                  data-day={one.date}
                  tabIndex={one.date === day ? 0 : -1}
                  aria-pressed={one.date === day}
                  aria-current={one.date === today ? 'date' : undefined}
                  class={`month-day ${one.isInMonth ? '' : 'bg-page'}`}
                  onClick={() => onDay(one.date)}
                >
                  <span class="sr-only">{describeDay(one)}</span>
                  <DayNumber day={one} isToday={one.date === today} />
                  <DayCounts day={one} />
                </button>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function DayNumber({ day, isToday }: { readonly day: CalendarDay; readonly isToday: boolean }) {
  return (
    <span aria-hidden="true" class="flex items-center justify-between text-xs tabular-nums">
      <span
        class={
          isToday
            ? 'rounded-full bg-accent px-1.5 font-semibold text-on-accent'
            : day.isInMonth
              ? ''
              : 'text-dim'
        }
      >
        {day.dayOfMonth}
      </span>
      {day.clockShiftMs === 0 ? null : (
        <span class="text-warn" title={describeClockShift(day.clockShiftMs)}>
          <Icon name="warning" size={12} />
        </span>
      )}
    </span>
  );
}

const TONES: Readonly<Record<string, string>> = {
  good: 'text-good',
  warn: 'text-warn',
  bad: 'text-bad',
  accent: 'text-accent',
  neutral: 'text-dim',
};

/** The number of runs by status, then the number of coming runs. */
function DayCounts({ day }: { readonly day: CalendarDay }) {
  return (
    <span aria-hidden="true" class="flex flex-wrap gap-x-1.5 gap-y-0.5 text-xs tabular-nums">
      {statusCounts(day).map(([status, amount]) => {
        const badge = DELIVERY_BADGES[status];
        return (
          <span
            key={status}
            class={`inline-flex items-center gap-0.5 ${TONES[badge?.tone ?? 'neutral'] ?? ''}`}
          >
            <Icon name={badge?.icon ?? 'dot'} size={12} />
            {amount}
          </span>
        );
      })}
      {day.coming.length === 0 ? null : (
        <span class="inline-flex items-center gap-0.5 text-accent">
          <Icon name="clock" size={12} />
          {day.coming.length}
        </span>
      )}
      {day.hasMore ? '…' : null}
    </span>
  );
}

function statusCounts(day: CalendarDay): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { status } of day.past) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts];
}

function describeDay(day: CalendarDay): string {
  const parts = statusCounts(day).map(
    ([status, amount]) => `${amount} ${(DELIVERY_BADGES[status]?.label ?? status).toLowerCase()}`,
  );
  if (day.coming.length > 0) parts.push(`${plural(day.coming.length, 'run')} upcoming`);
  if (day.hasMore) parts.push('and more');
  if (day.clockShiftMs !== 0) parts.push(describeClockShift(day.clockShiftMs));
  return `${DAY_NAME.format(Date.parse(day.date))}: ${parts.length === 0 ? 'no runs' : parts.join(', ')}`;
}

function describeClockShift(shiftMs: number): string {
  const minutes = Math.abs(shiftMs) / 60_000;
  return `the clock goes ${shiftMs > 0 ? 'forward' : 'back'} by ${plural(minutes, 'minute')}`;
}

function Agenda({
  weeks,
  timezone,
}: {
  readonly weeks: readonly (readonly CalendarDay[])[];
  readonly timezone: string;
}) {
  const days = weeks
    .flat()
    .filter(({ isInMonth, past, coming, clockShiftMs }) =>
      isInMonth ? past.length + coming.length > 0 || clockShiftMs !== 0 : false,
    );
  return (
    <div class="space-y-4 sm:hidden">
      {days.length === 0 ? <p class="text-dim">No runs in this month.</p> : null}
      {days.map((day) => (
        <section key={day.date}>
          <h4 class="mb-1 font-medium">{DAY_NAME.format(Date.parse(day.date))}</h4>
          {day.clockShiftMs === 0 ? null : (
            <p class="text-sm text-warn">On this day {describeClockShift(day.clockShiftMs)}.</p>
          )}
          <DayRuns day={day} timezone={timezone} />
        </section>
      ))}
    </div>
  );
}
