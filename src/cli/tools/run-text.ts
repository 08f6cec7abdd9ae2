/** Runs and their notes (see `run-notes.ts`) in words, and as JSON. */

import { type Column, type Json, styled, tableOf } from '#src/cli/terminal/output.ts';
import { paint, type Screen } from '#src/cli/terminal/screen.ts';
import { dateText, localText, offsetText, relative, shortInstant, timeText } from '#src/cli/terminal/when.ts';
import { formatInstant, instant, WALL_CLOCK_CHARACTERS } from '#src/domain/instant.ts';
import type { Month, Run, RunNote } from '#src/domain/run-notes.ts';
import type { LocalTime } from '#src/domain/zone.ts';

const MONTHS_NAMED_MAX = 3;

/** A table of runs. A note is a column in a pipe; on a terminal it stands below its run, where there is room. */
export function runsText(runs: readonly Run[], zone: string, now: number, screen: Screen): string {
  const columns: readonly Column<Run>[] = [
    { title: `LOCAL (${zone})`, cell: ({ local, offsetMs }) => localText(local, offsetMs) },
    { title: 'UTC', cell: ({ at }) => shortInstant(at) },
    { title: 'WHEN', cell: ({ at }) => styled(relative(at, now), 'dim'), fit: 'drop' },
  ];
  if (screen.columns !== null) {
    const [titles = '', ...lines] = tableOf(columns, runs, screen).split('\n');
    const below = runs.map(({ notes }) =>
      notes.map((note) => `\n  ${paint(`↳ ${noteText(note)}`, 'yellow', screen)}`),
    );
    return [titles, ...lines.map((line, i) => line + (below[i] ?? []).join(''))].join('\n');
  }
  const notes: Column<Run> = { title: 'NOTE', cell: ({ notes }) => notes.map(noteText).join('; ') };
  const hasNotes = runs.some(({ notes }) => notes.length > 0);
  return tableOf(hasNotes ? [...columns, notes] : columns, runs, screen);
}

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

function monthText({ year, month }: Month): string {
  return `${year}-${String(month).padStart(2, '0')}`;
}

export function runJson({ at, local, offsetMs, notes }: Run): Json {
  return {
    at: formatInstant(at),
    local: `${wallJson(local)}${offsetText(offsetMs)}`,
    notes: notes.map((note) => ({ kind: note.kind, text: noteText(note), ...factsOf(note) })),
  };
}

function factsOf(note: RunNote): { readonly [name: string]: Json } {
  switch (note.kind) {
    case 'gap':
      return { from: wallJson(note.from), to: wallJson(note.to), fires_at: wallJson(note.firesAt) };
    case 'fold':
      return { at: wallJson(note.at), pass: note.pass, fires_in_both: note.firesInBoth };
    case 'offset':
      return { before: offsetText(note.beforeMs), after: offsetText(note.afterMs) };
    case 'short_months':
      return { months: note.months.map(monthText), days: note.days };
  }
}

/** `YYYY-MM-DDTHH:MM:SS`, as `local_fire_at` takes it. */
function wallJson(local: LocalTime): string {
  return formatInstant(instant(local)).slice(0, WALL_CLOCK_CHARACTERS);
}
