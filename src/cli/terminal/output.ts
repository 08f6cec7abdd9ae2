/**
 * What a command prints: a table, a list of fields or a line for a person, one line of JSON for a program. A
 * table on a terminal fits its width: cells that may be cut are, then columns that may go are left out, and at
 * last the others from the right, as long as the first one stays. In a pipe nothing is missing.
 */
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import { printable } from './printable.ts';
import { PLAIN, paint, type Screen, type Style } from './screen.ts';
import { cutTo, padTo, widthOf } from './width.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** The same answer in both forms. */
export interface Answer {
  readonly json: Json;
  readonly text: string;
}

/** A text, and how it is shown where there are colours. */
export interface Styled {
  readonly text: string;
  readonly style: Style | null;
}
export type Cell = string | Styled;

/**
 * What becomes of a column where the terminal is too narrow: it stays, it is cut, it is left out, or it yields:
 * cut first, and left out when all others that may go have gone.
 */
export type Fit = 'keep' | 'cut' | 'drop' | 'yield';

export interface Column<T> {
  readonly title: string;
  readonly cell: (item: T) => Cell;
  readonly fit?: Fit;
  /** Says again, in a friendlier way, what another column says: for people only. */
  readonly isForPeople?: boolean;
}

const GAP = '  ';
const CUT_WIDTH_MIN = 12;

export function styled(text: string, style: Style | null): Styled {
  return { text, style };
}

/** One line for each item, below the titles. */
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

/** Columns as wide as their widest cell, no lines, nothing after the last one. */
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

/** Widths that fit; 0 for a column that is left out. */
function fitWidths(
  natural: readonly number[],
  fits: readonly Fit[],
  columns: number | null,
): readonly number[] {
  if (columns === null) return natural;
  const mayGo = [...indexesOf(fits, 'drop'), ...indexesOf(fits, 'yield')];
  const others = fits.map((_, i) => i).filter((i) => i > 0 && !mayGo.includes(i));
  const widths = [...natural];
  for (const goes of [...mayGo, ...others.toReversed()]) {
    const cut = cutWidths(widths, fits, columns);
    if (excessOf(cut, columns) <= 0) return cut;
    widths[goes] = 0;
  }
  return cutWidths(widths, fits, columns);
}

/** The last first. */
function indexesOf(fits: readonly Fit[], fit: Fit): readonly number[] {
  return fits.flatMap((each, i) => (each === fit ? [i] : [])).toReversed();
}

function cutWidths(natural: readonly number[], fits: readonly Fit[], columns: number): readonly number[] {
  const widths = [...natural];
  for (const i of [...indexesOf(fits, 'yield'), ...indexesOf(fits, 'cut')]) {
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

/** Names and values, one below the other. A value is never cut. */
export function fields(pairs: readonly (readonly [name: string, value: Cell])[], screen: Screen): string {
  return table(
    pairs.map(([name, value]) => [styled(name, 'dim'), value]),
    { ...screen, columns: null },
  );
}

export function instantOr(at: Instant | null, otherwise: string): string {
  return at === null ? otherwise : formatInstant(at);
}
