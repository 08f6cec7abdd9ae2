/**
 * Instants for people. The user chooses between the zone of the browser and UTC for the whole page. The zone of a schedule
 * is shown too. `now` ticks every second while the page is visible.
 */
import { computed, signal } from '@preact/signals';
import { recall, remember } from './storage.ts';

const STORED_ZONE = 'sched.zone';
const TICK_MS = 1_000;

export type ZoneChoice = 'local' | 'utc';

export const zoneChoice = signal<ZoneChoice>(recall(STORED_ZONE) === 'utc' ? 'utc' : 'local');
export const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
/** The zone that times are shown in. */
export const displayZone = computed(() => (zoneChoice.value === 'utc' ? 'UTC' : browserZone));

export function chooseZone(choice: ZoneChoice): void {
  zoneChoice.value = choice;
  remember(STORED_ZONE, choice === 'local' ? null : choice);
}

export const now = signal(Date.now());

const MINUTE_MS = 60_000;

/** The start of the current minute, for API paths that change with the clock. */
export const currentMinute = computed(() => Math.floor(now.value / MINUTE_MS) * MINUTE_MS);

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, TICK_MS);
  document.addEventListener('visibilitychange', () => {
    now.value = Date.now();
  });
}

/**
 * `date`: 15 Nov 2026 · `day`: 15 Nov · `minute`: 15 Nov, 09:00 · `second`: 15 Nov, 09:00:05 · `exact`: with the year and milliseconds.
 * A date in another year shows its year in every style.
 */
export type InstantStyle = 'date' | 'day' | 'time' | 'minute' | 'second' | 'exact';

const STYLES: Readonly<Record<InstantStyle, Intl.DateTimeFormatOptions>> = {
  date: { year: 'numeric', month: 'short', day: 'numeric' },
  day: { month: 'short', day: 'numeric' },
  time: { hour: '2-digit', minute: '2-digit' },
  minute: { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
  second: { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  exact: {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  },
};

/** Formatters are slow to create, so they are cached by zone and style. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const FORMATTERS_MAX = 64;

function formatter(zone: string, style: InstantStyle, withYear: boolean): Intl.DateTimeFormat {
  const key = `${style} ${zone} ${withYear}`;
  const known = formatters.get(key);
  if (known !== undefined) return known;
  const created = new Intl.DateTimeFormat('en-GB', {
    ...STYLES[style],
    ...(withYear && { year: 'numeric' }),
    hourCycle: 'h23',
    timeZone: zone,
  });
  if (formatters.size >= FORMATTERS_MAX) formatters.clear();
  formatters.set(key, created);
  return created;
}

export function formatInstant(at: string | number, zone: string, style: InstantStyle = 'minute'): string {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  if (Number.isNaN(ms)) return String(at);
  const isDay = style !== 'time';
  return formatter(zone, style, isDay && isOtherYear(ms, now.peek())).format(ms);
}

/** UTC is exact enough here. */
function isOtherYear(ms: number, nowMs: number): boolean {
  return new Date(ms).getUTCFullYear() !== new Date(nowMs).getUTCFullYear();
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A relative time such as `in 3 min`, `2 h ago`, `now`, with a second unit for small numbers. */
export function formatRelative(at: string | number, from: number): string {
  const ms = (typeof at === 'number' ? at : Date.parse(at)) - from;
  if (Number.isNaN(ms)) return '';
  const text = span(Math.abs(ms));
  if (text === '') return 'now';
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

function span(ms: number): string {
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[first] ?? [];
  if (unit === undefined || size === undefined) return '';
  const count = Math.floor(ms / size);
  const [smaller, smallerSize] = UNITS[first + 1] ?? [];
  const rest = smallerSize === undefined ? 0 : Math.floor((ms % size) / smallerSize);
  const withRest = rest > 0 && unit !== 's' && count < 10;
  return withRest ? `${count} ${unit} ${rest} ${smaller}` : `${count} ${unit}`;
}
