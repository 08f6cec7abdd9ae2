/**
 * One line for each thing that `sched tail` tells. Columns have fixed widths: what comes later is not known. The
 * narrower the terminal, the fewer and the shorter they are; what came of it, and what comes next, is always
 * there, and the id is always whole.
 */
import type { Delivery } from '#sdk/index.ts';
import { jsonLine, printable } from '#src/cli/terminal/printable.ts';
import { paint, type Screen, type Style, styleOf } from '#src/cli/terminal/screen.ts';
import { relative } from '#src/cli/terminal/time-text.ts';
import { cutTo, padTo, widthOf } from '#src/cli/terminal/width.ts';
import { parseInstant } from '#src/domain/instant.ts';
import type { TailEvent } from './tail.ts';

const GAP = '  ';
/** `→ retry in 10 s`. */
const END_WIDTH_MIN = 16;

type AttemptEvent = Extract<TailEvent, { kind: 'attempt' }>;

interface Column {
  readonly width: number;
  readonly text: (event: TailEvent) => string;
}

const INSTANT: Column = { width: 24, text: (event) => atOf(event) ?? '-' };
const TIME: Column = { width: 12, text: (event) => timeOfDay(event, 'HH:MM:SS.mmm') };
const CLOCK: Column = { width: 8, text: (event) => timeOfDay(event, 'HH:MM:SS') };
const ID: Column = { width: 30, text: ({ delivery }) => delivery.id };
const SCHEDULE: Column = { width: 30, text: ({ delivery }) => delivery.schedule_id ?? '-' };
const ATTEMPT: Column = {
  width: 10,
  text: (event) => ofAttempt(event, 'end', ({ attempt_no }) => `attempt ${attempt_no}`),
};
/** A terminal has no room for the word. */
const ATTEMPT_NUMBER: Column = {
  width: 3,
  text: (event) => ofAttempt(event, 'end', ({ attempt_no }) => `#${attempt_no}`),
};
const OUTCOME: Column = { width: 9, text: (event) => ofAttempt(event, '', ({ outcome }) => outcome) };
const CODE: Column = {
  width: 3,
  text: (event) => ofAttempt(event, '', ({ status_code }) => `${status_code ?? '-'}`),
};
const LATE: Column = {
  width: 12,
  text: (event) => ofAttempt(event, '', ({ lateness_ms }) => `${lateness_ms} ms late`),
};
const DELAY: Column = {
  width: 7,
  text: (event) => ofAttempt(event, '', ({ lateness_ms }) => `+${lateness_ms} ms`),
};

const PIPE: readonly Column[] = [INSTANT, ID, SCHEDULE, ATTEMPT, OUTCOME, CODE, LATE];
/** For terminals of 129, 86, 77, 58 and fewer columns. */
const TERMINAL: readonly (readonly Column[])[] = [
  [TIME, ID, SCHEDULE, ATTEMPT_NUMBER, OUTCOME, CODE, LATE],
  [TIME, ID, ATTEMPT_NUMBER, CODE, LATE],
  [CLOCK, ID, ATTEMPT_NUMBER, CODE, DELAY],
  [ID, ATTEMPT_NUMBER, CODE],
  [ID],
];

export function eventJson(event: TailEvent): string {
  const { delivery } = event;
  return event.kind === 'attempt'
    ? jsonLine({ type: 'attempt', attempt: event.attempt, delivery })
    : jsonLine({ type: 'end', delivery });
}

/** Null for an end that its last attempt has told. */
export function eventText(event: TailEvent, screen: Screen): string | null {
  if (event.kind === 'end' && event.isReported) return null;
  const { columns } = screen;
  const style = styleOf(event.kind === 'attempt' ? event.attempt.outcome : event.delivery.status);
  const cells = layoutOf(columns).map((column) => cellOf(column, event, style, screen));
  const usedWidth = cells.reduce((sum, { width }) => sum + width + GAP.length, 0);
  const end = `→ ${printable(endOf(event))}`;
  const shown = columns === null ? end : cutTo(end, columns - usedWidth);
  return [...cells.map(({ painted }) => painted), paint(shown, style, screen)].join(GAP);
}

function layoutOf(columns: number | null): readonly Column[] {
  if (columns === null) return PIPE;
  const fits = (layout: readonly Column[]) =>
    layout.reduce((sum, { width }) => sum + width + GAP.length, END_WIDTH_MIN) <= columns;
  return TERMINAL.find(fits) ?? [ID];
}

/** As wide as its column, or wider: a number may be long. */
function cellOf(column: Column, event: TailEvent, style: Style | null, screen: Screen) {
  const text = padTo(printable(column.text(event)), column.width);
  return { width: widthOf(text), painted: paint(text, column === OUTCOME ? style : null, screen) };
}

/** What came of it before why: where there is no room for both, the first counts. */
function endOf(event: TailEvent): string {
  const { error } = event.kind === 'attempt' ? event.attempt : event.delivery;
  const next = event.kind === 'attempt' ? nextOf(event) : event.delivery.status;
  return error === null ? next : `${next}: ${error}`;
}

/** What comes after an attempt. */
function nextOf({ delivery, attempt }: AttemptEvent): string {
  const { status, next_fire_at, attempt_count } = delivery;
  if (attempt.attempt_no < attempt_count) return 'tried again';
  if (status !== 'retry_scheduled') return status;
  const next = parseInstant(next_fire_at ?? '');
  const finished = parseInstant(attempt.finished_at ?? '');
  return next === null || finished === null ? status : `retry ${relative(next, finished)}`;
}

function ofAttempt(
  event: TailEvent,
  otherwise: string,
  text: (attempt: AttemptEvent['attempt']) => string,
): string {
  return event.kind === 'attempt' ? text(event.attempt) : otherwise;
}

function atOf(event: TailEvent): Delivery['finalized_at'] {
  return event.kind === 'attempt' ? event.attempt.fired_at : event.delivery.finalized_at;
}

function timeOfDay(event: TailEvent, form: string): string {
  const [, time] = /T(\d\d:\d\d:\d\d\.\d{3})Z$/.exec(atOf(event) ?? '') ?? [];
  return time?.slice(0, form.length) ?? '-';
}
