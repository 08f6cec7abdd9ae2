/**
 * Formats one line for each event of `sched tail`. Columns have fixed widths, because later lines are not known yet.
 * A narrower terminal gets fewer and shorter columns. Every line has the whole id, and says what comes next. A line that
 * is too long for its error leaves out how late the attempt was, and then a missing status code.
 */
import type { Delivery } from '#sdk/index.ts';
import { jsonLine, printable } from '#src/cli/terminal/printable.ts';
import { paint, type Screen, type Style, styleOf } from '#src/cli/terminal/screen.ts';
import { shortUrl } from '#src/cli/terminal/short-url.ts';
import { relative } from '#src/cli/terminal/time-text.ts';
import { cutTo, padTo, widthOf } from '#src/cli/terminal/width.ts';
import { parseInstant } from '#src/domain/instant.ts';
import type { TailEvent } from './tail.ts';

const GAP = '  ';
const NO_CODE = '-';
/** The width of `→ retry in 10 s`. */
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
const DESTINATION: Column = { width: 30, text: (event) => destinationOf(event, 'whole') };
const ATTEMPT: Column = {
  width: 10,
  text: (event) => ofAttempt(event, 'end', ({ attempt_no }) => `attempt ${attempt_no}`),
};
/** The short form for terminals. */
const ATTEMPT_NUMBER: Column = {
  width: 3,
  text: (event) => ofAttempt(event, 'end', ({ attempt_no }) => `#${attempt_no}`),
};
const OUTCOME: Column = { width: 9, text: (event) => ofAttempt(event, '', ({ outcome }) => outcome) };
const CODE: Column = {
  width: 3,
  text: (event) => ofAttempt(event, '', ({ status_code }) => `${status_code ?? NO_CODE}`),
};
const LATE: Column = {
  width: 12,
  text: (event) => ofAttempt(event, '', ({ lateness_ms }) => `${lateness_ms} ms late`),
};

const PIPE: readonly Column[] = [INSTANT, ID, SCHEDULE, ATTEMPT, OUTCOME, CODE, LATE, DESTINATION];
/** Layouts for terminals with at least 161, 129, 118, 94, 80, 58 columns, and for narrower ones. */
const TERMINAL: readonly (readonly Column[])[] = [
  [TIME, ID, SCHEDULE, shortDestination(30), ATTEMPT_NUMBER, OUTCOME, CODE, LATE],
  [TIME, ID, shortDestination(30), ATTEMPT_NUMBER, OUTCOME, CODE, LATE],
  [TIME, ID, shortDestination(30), ATTEMPT_NUMBER, CODE, LATE],
  [CLOCK, ID, shortDestination(24), ATTEMPT_NUMBER, CODE],
  [ID, shortDestination(20), ATTEMPT_NUMBER, CODE],
  [ID, ATTEMPT_NUMBER, CODE],
  [ID],
];

export function eventJson(event: TailEvent): string {
  const { delivery } = event;
  return event.kind === 'attempt'
    ? jsonLine({ type: 'attempt', attempt: event.attempt, delivery })
    : jsonLine({ type: 'end', delivery });
}

/** Null for an end that the line of its last attempt already showed. */
export function eventText(event: TailEvent, screen: Screen): string | null {
  if (event.kind === 'end' && event.isReported) return null;
  const style = styleOf(event.kind === 'attempt' ? event.attempt.outcome : event.delivery.status);
  const layout = layoutOf(screen.columns);
  const end = `→ ${printable(endOf(event, screen.columns !== null && layout.includes(CODE)))}`;
  const cells = shownColumns(layout, event, widthOf(end), screen.columns).map((column) =>
    cellOf(column, event, style, screen),
  );
  const usedWidth = cells.reduce((sum, { width }) => sum + width + GAP.length, 0);
  const shown = screen.columns === null ? end : cutTo(end, screen.columns - usedWidth);
  return [...cells.map(({ painted }) => painted), paint(shown, style, screen)].join(GAP);
}

function shownColumns(
  layout: readonly Column[],
  event: TailEvent,
  endWidth: number,
  columns: number | null,
): readonly Column[] {
  if (columns === null) return layout;
  let shown = layout;
  for (const spare of [LATE, ...(CODE.text(event) === NO_CODE ? [CODE] : [])]) {
    const width = shown.reduce((sum, { width }) => sum + width + GAP.length, endWidth);
    if (width > columns) shown = shown.filter((column) => column !== spare);
  }
  return shown;
}

function layoutOf(columns: number | null): readonly Column[] {
  if (columns === null) return PIPE;
  const fits = (layout: readonly Column[]) =>
    layout.reduce((sum, { width }) => sum + width + GAP.length, END_WIDTH_MIN) <= columns;
  return TERMINAL.find(fits) ?? [ID];
}

/** A cell is at least as wide as its column. A long number makes it wider. */
function cellOf(column: Column, event: TailEvent, style: Style | null, screen: Screen) {
  const text = padTo(printable(column.text(event)), column.width);
  return { width: widthOf(text), painted: paint(text, column === OUTCOME ? style : null, screen) };
}

/**
 * The result comes before the reason, because a narrow terminal cuts the end of the line. With `isCodeShown`, a reason
 * that only repeats the status code is left out.
 */
function endOf(event: TailEvent, isCodeShown: boolean): string {
  const { error } = event.kind === 'attempt' ? event.attempt : event.delivery;
  const next = event.kind === 'attempt' ? nextOf(event) : event.delivery.status;
  const isRepeated = isCodeShown && event.kind === 'attempt' && error === `HTTP ${event.attempt.status_code}`;
  return error === null || isRepeated ? next : `${next}: ${error}`;
}

/** The step that follows the attempt. */
function nextOf({ delivery, attempt }: AttemptEvent): string {
  const { status, next_fire_at, attempt_count } = delivery;
  if (attempt.attempt_no < attempt_count) return 'retried';
  if (status !== 'retry_scheduled') return status;
  const next = parseInstant(next_fire_at ?? '');
  const finished = parseInstant(attempt.finished_at ?? '');
  return next === null || finished === null ? status : `retry ${relative(next, finished)}`;
}

/** The method and the URL, shortened to the width of the column. */
function shortDestination(width: number): Column {
  return { width, text: (event) => destinationOf(event, width) };
}

function ofAttempt(
  event: TailEvent,
  otherwise: string,
  text: (attempt: AttemptEvent['attempt']) => string,
): string {
  return event.kind === 'attempt' ? text(event.attempt) : otherwise;
}

/** A service of an earlier version does not say where a delivery goes. */
function destinationOf({ delivery }: TailEvent, cells: number | 'whole'): string {
  const { method, url }: Partial<Delivery> = delivery;
  if (method === undefined || url === undefined) return '-';
  return `${method} ${cells === 'whole' ? url : shortUrl(printable(url), cells - method.length - 1)}`;
}

function atOf(event: TailEvent): Delivery['finalized_at'] {
  return event.kind === 'attempt' ? event.attempt.fired_at : event.delivery.finalized_at;
}

function timeOfDay(event: TailEvent, form: string): string {
  const [, time] = /T(\d\d:\d\d:\d\d\.\d{3})Z$/.exec(atOf(event) ?? '') ?? [];
  return time?.slice(0, form.length) ?? '-';
}
