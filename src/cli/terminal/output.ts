/**
 * Formats what a command prints. A person gets a table, a list of fields or a line; a program gets one line of JSON.
 *
 * A table fits the width of the terminal: see `fit-columns.ts`. A pipe gets everything.
 */
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import { type Fit, fitWidths } from './fit-columns.ts';
import { printable } from './printable.ts';
import { PLAIN, paint, type Screen, type Style } from './screen.ts';
import { cutTo, padTo, widthOf } from './width.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** One answer in two forms. */
export interface Answer {
  readonly json: Json;
  readonly text: string;
  /** A line for standard error, below the answer. */
  readonly note?: string;
}

/** A text, and its style if the screen has colours. */
export interface Styled {
  readonly text: string;
  readonly style: Style | null;
}
export type Cell = string | Styled;

export interface Column<T> extends Fit {
  readonly title: string;
  readonly cell: (item: T) => Cell;
  /** The column repeats another one in a friendlier form. A pipe does not get it. */
  readonly isForPeople?: boolean;
  /** Whether the column says anything about these items. If not, a terminal leaves it out. */
  readonly isTelling?: (items: readonly T[]) => boolean;
}

const GAP = '  ';
/** The cell of a field that an object does not have. */
export const ABSENT = '-';

export function styled(text: string, style: Style | null): Styled {
  return { text, style };
}

/** Formats one line for each item, below the titles. */
export function tableOf<T>(columns: readonly Column<T>[], items: readonly T[], screen: Screen): string {
  const shown = columns.filter(({ isForPeople = false, isTelling }) =>
    screen.columns === null ? !isForPeople : (isTelling?.(items) ?? true),
  );
  const titles = shown.map(({ title }) => styled(title, 'bold'));
  const rows = items.map((item) => shown.map(({ cell }) => cell(item)));
  return table([titles, ...rows], screen, shown);
}

/** Columns are as wide as their widest cell. Lines have no trailing spaces. */
export function table(
  rows: readonly (readonly Cell[])[],
  screen: Screen = PLAIN,
  fits: readonly Fit[] = [],
): string {
  const clean = rows.map((row) => row.map(cleanCell));
  const natural = naturalWidths(clean);
  if (screen.columns === null) return clean.map((row) => tableLine(row, natural, screen)).join('\n');
  const widths = fitWidths(natural, fits, screen.columns, GAP.length);
  const shortened = clean.map((row) => row.map((cell, i) => shorten(cell, widths[i], natural[i], fits[i])));
  return shortened.map((row) => tableLine(row, widths, screen)).join('\n');
}

function cleanCell(cell: Cell): Styled {
  return typeof cell === 'string' ? styled(printable(cell), null) : { ...cell, text: printable(cell.text) };
}

function naturalWidths(rows: readonly (readonly Styled[])[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, { text }] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, widthOf(text));
  }
  return widths;
}

function shorten({ text, style }: Styled, width = 0, natural = 0, fit: Fit = {}): Styled {
  if (width >= natural || width === 0) return { text, style };
  return { text: (fit.cut?.shorten ?? cutTo)(text, width), style };
}

function tableLine(row: readonly Styled[], widths: readonly number[], screen: Screen): string {
  const shown = row.flatMap(({ text, style }, i) => {
    const width = widths[i] ?? 0;
    return width === 0 ? [] : [{ text, style, width }];
  });
  const lastFilled = shown.findLastIndex(({ text }) => text !== '');
  return shown
    .slice(0, lastFilled + 1)
    .map(({ text, style, width }, i) => {
      const painted = paint(text, style, screen);
      return i === lastFilled ? painted : painted + padTo(text, width).slice(text.length);
    })
    .join(GAP);
}

/** Formats names and values, one pair on each line. Values are never cut. */
export function fields(pairs: readonly (readonly [name: string, value: Cell])[], screen: Screen): string {
  return table(
    pairs.map(([name, value]) => [styled(name, 'dim'), value]),
    { ...screen, columns: null },
  );
}

export function instantOr(at: Instant | null, otherwise: string): string {
  return at === null ? otherwise : formatInstant(at);
}
