/**
 * Formats what a command prints. A person gets a table, a list of fields or a line; a program gets one line of JSON.
 *
 * A table fits the width of the terminal. First, cells that may be cut are cut. Then columns that may be dropped are
 * dropped. At last the other columns are dropped from the right, except the first one. A pipe gets everything.
 */
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import { printable } from './printable.ts';
import { PLAIN, paint, type Screen, type Style } from './screen.ts';
import { cutTo, padTo, widthOf } from './width.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** One answer in two forms. */
export interface Answer {
  readonly json: Json;
  readonly text: string;
}

/** A text, and its style if the screen has colours. */
export interface Styled {
  readonly text: string;
  readonly style: Style | null;
}
export type Cell = string | Styled;

/**
 * Decides what happens to a column if the terminal is too narrow. With `cut_or_drop` it is cut first, and dropped after all
 * columns with `drop`.
 */
export type Fit = 'keep' | 'cut' | 'drop' | 'cut_or_drop';

export interface Column<T> {
  readonly title: string;
  readonly cell: (item: T) => Cell;
  readonly fit?: Fit;
  /** The column repeats another one in a friendlier form. A pipe does not get it. */
  readonly isForPeople?: boolean;
}

const GAP = '  ';
const CUT_WIDTH_MIN = 12;

export function styled(text: string, style: Style | null): Styled {
  return { text, style };
}

/** Formats one line for each item, below the titles. */
export function tableOf<T>(columns: readonly Column<T>[], items: readonly T[], screen: Screen): string {
  const shown = columns.filter(({ isForPeople = false }) => screen.columns !== null || !isForPeople);
  const titles = shown.map(({ title }) => styled(title, 'bold'));
  const rows = items.map((item) => shown.map(({ cell }) => cell(item)));
  return table(
    [titles, ...rows],
    screen,
    shown.map(({ fit = 'keep' }) => fit),
  );
}

/** Columns are as wide as their widest cell. Lines have no trailing spaces. */
export function table(
  rows: readonly (readonly Cell[])[],
  screen: Screen = PLAIN,
  fits: readonly Fit[] = [],
): string {
  const clean = rows.map((row) => row.map(cleanCell));
  const widths = fitWidths(naturalWidths(clean), fits, screen.columns);
  return clean.map((row) => tableLine(row, widths, screen)).join('\n');
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

/** Returns widths that fit the terminal. A dropped column has the width 0. */
function fitWidths(
  natural: readonly number[],
  fits: readonly Fit[],
  columns: number | null,
): readonly number[] {
  if (columns === null) return natural;
  const droppable = [...indexesOf(fits, 'drop'), ...indexesOf(fits, 'cut_or_drop')];
  const others = fits.map((_, i) => i).filter((i) => i > 0 && !droppable.includes(i));
  const widths = [...natural];
  for (const dropped of [...droppable, ...others.toReversed()]) {
    const cut = cutWidths(widths, fits, columns);
    if (excessOf(cut, columns) <= 0) return cut;
    widths[dropped] = 0;
  }
  return cutWidths(widths, fits, columns);
}

/** Returns the indexes from the last to the first. */
function indexesOf(fits: readonly Fit[], fit: Fit): readonly number[] {
  return fits.flatMap((each, i) => (each === fit ? [i] : [])).toReversed();
}

function cutWidths(natural: readonly number[], fits: readonly Fit[], columns: number): readonly number[] {
  const widths = [...natural];
  for (const i of [...indexesOf(fits, 'cut_or_drop'), ...indexesOf(fits, 'cut')]) {
    const width = widths[i] ?? 0;
    const excess = Math.max(excessOf(widths, columns), 0);
    widths[i] = Math.max(width - excess, Math.min(width, CUT_WIDTH_MIN));
  }
  return widths;
}

function excessOf(widths: readonly number[], columns: number): number {
  const shown = widths.filter((width) => width > 0);
  return shown.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - columns;
}

function tableLine(row: readonly Styled[], widths: readonly number[], screen: Screen): string {
  const shown = row.flatMap(({ text, style }, i) => {
    const width = widths[i] ?? 0;
    return width === 0 ? [] : [{ text: cutTo(text, width), style, width }];
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
