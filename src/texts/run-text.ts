/** Writes the runs of a schedule for people, and what a wall clock does to them (`domain/run-notes.ts`). */
import { formatInstant, instant, WALL_CLOCK_CHARACTERS } from '#src/domain/instant.ts';
import type { Month, RunNote } from '#src/domain/run-notes.ts';
import type { LocalTime } from '#src/domain/zone.ts';

const MONTHS_NAMED_MAX = 3;

export function noteText(note: RunNote): string {
  switch (note.kind) {
    case 'gap':
      return gapText(note);
    case 'fold': {
      const occurs = `${timeText(note.at)} occurs twice on ${dateText(note.at)}`;
      if (!note.firesInBoth) return `${occurs}, fires the first time`;
      return note.pass === 1 ? `${occurs}, fires in both passes` : `${occurs}, this is the second pass`;
    }
    case 'offset':
      return `offset changes ${offsetText(note.beforeMs)} → ${offsetText(note.afterMs)}`;
    case 'short_months':
      return shortMonthsText(note);
  }
}

function gapText({ from, to, firesAt }: Extract<RunNote, { kind: 'gap' }>): string {
  const date = dateText(from);
  const fires = dateText(firesAt) === date ? timeText(firesAt) : `${dateText(firesAt)} ${timeText(firesAt)}`;
  if (from === to) return `${timeText(from)} does not exist on ${date}, fires ${fires}`;
  return `${timeText(from)} to ${timeText(to)} do not exist on ${date}, fires once at ${fires}`;
}

function shortMonthsText({ months, days }: Extract<RunNote, { kind: 'short_months' }>): string {
  const named = months.slice(0, MONTHS_NAMED_MAX).map(monthText);
  const more = months.length - named.length;
  const all = more === 0 ? named : [...named, `${more} more`];
  return `${all.join(', ')} ${months.length === 1 ? 'has' : 'have'} no day ${days.join(', ')}`;
}

export function monthText({ year, month }: Month): string {
  return `${year}-${String(month).padStart(2, '0')}`;
}

/** Returns `+02:00` or `-03:30`, and `+00:19:32` for the local times before there were zones. */
export function offsetText(offsetMs: number): string {
  const seconds = Math.abs(offsetMs) / 1_000;
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60].map(Math.floor);
  const shown = parts[2] === 0 ? parts.slice(0, 2) : parts;
  return `${offsetMs < 0 ? '-' : '+'}${shown.map((part) => String(part).padStart(2, '0')).join(':')}`;
}

/** Returns `YYYY-MM-DD` of a wall clock's reading. */
export function dateText(local: number): string {
  return formatInstant(instant(local)).slice(0, 'YYYY-MM-DD'.length);
}

/** Returns `HH:MM` of a wall clock's reading, with the seconds unless they are zero. */
export function timeText(local: number): string {
  const time = formatInstant(instant(local)).slice('YYYY-MM-DDT'.length, -'.000Z'.length);
  return time.endsWith(':00') ? time.slice(0, 'HH:MM'.length) : time;
}

/** Returns `YYYY-MM-DDTHH:MM:SS`, the format of `local_fire_at`. */
export function wallClockText(local: LocalTime): string {
  return formatInstant(instant(local)).slice(0, WALL_CLOCK_CHARACTERS);
}
