/** Formats runs and their notes (see `run-notes.ts`) as a table and as JSON. */

import { type Column, type Json, styled, tableOf } from '#src/cli/terminal/output.ts';
import { paint, type Screen } from '#src/cli/terminal/screen.ts';
import { localText, relative, shortInstant } from '#src/cli/terminal/time-text.ts';
import { formatInstant } from '#src/domain/instant.ts';
import type { Run, RunNote } from '#src/domain/run-notes.ts';
import { monthText, noteText, offsetText, wallClockText } from '#src/texts/run-text.ts';

/** The instant that a table counts from. The title of the column says which one. */
export interface TimeOrigin {
  readonly title: string;
  readonly distanceTo: (at: number) => string;
}

export function countedFromNow(now: number): TimeOrigin {
  return { title: 'WHEN', distanceTo: (at) => relative(at, now) };
}

/** Counts from the instant of `--from`. "In 2 h" would be read as from now. */
export function countedFrom(start: number): TimeOrigin {
  const later = (text: string) => text.replace(/^in /, '').replace(/ ago$/, ' before').replace('now', '0 s');
  return { title: 'AFTER --from', distanceTo: (at) => later(relative(at, start)) };
}

/** In a pipe, notes are a column. On a terminal, notes are below their run, where they have more space. */
export function runsText(runs: readonly Run[], zone: string, from: TimeOrigin, screen: Screen): string {
  const columns: readonly Column<Run>[] = [
    { title: `LOCAL (${zone})`, cell: ({ local, offsetMs }) => localText(local, offsetMs) },
    { title: 'UTC', cell: ({ at }) => shortInstant(at) },
    { title: from.title, cell: ({ at }) => styled(from.distanceTo(at), 'dim') },
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

export function runJson({ at, local, offsetMs, notes }: Run): Json {
  return {
    at: formatInstant(at),
    local: `${wallClockText(local)}${offsetText(offsetMs)}`,
    notes: notes.map((note) => ({ kind: note.kind, text: noteText(note), ...factsOf(note) })),
  };
}

function factsOf(note: RunNote): { readonly [name: string]: Json } {
  switch (note.kind) {
    case 'gap':
      return {
        from: wallClockText(note.from),
        to: wallClockText(note.to),
        fires_at: wallClockText(note.firesAt),
      };
    case 'fold':
      return { at: wallClockText(note.at), pass: note.pass, fires_in_both: note.firesInBoth };
    case 'offset':
      return { before: offsetText(note.beforeMs), after: offsetText(note.afterMs) };
    case 'short_months':
      return { months: note.months.map(monthText), days: note.days };
  }
}
