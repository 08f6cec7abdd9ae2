/**
 * Fits the columns of a table to the width of a terminal. The columns are taken in the order of their rank, and each
 * is shown if it fits. A column that may be cut claims its smallest width when it is taken itself, and its wanted width
 * when a less important column is considered: a URL is not cut short to make space for the method.
 */
export interface Cut {
  /** A cell that is longer than this is not cut below it. */
  readonly min: number;
  /** Less important columns are shown only if this column has this width. */
  readonly wanted: number;
  /** Shortens a text to a number of cells. It gets all texts of a column that is too wide. Default: it cuts the end. */
  readonly shorten?: (text: string, cells: number) => string;
}

export interface Fit {
  /** 1 for the most important column. Default: its place in the table. */
  readonly rank?: number | undefined;
  /** How long cells are cut. Without it, cells are never cut. */
  readonly cut?: Cut | undefined;
}

/** `natural` has the width of the widest cell of each column. A column that is not shown gets the width 0. */
export function fitWidths(
  natural: readonly number[],
  fits: readonly Fit[],
  screenWidth: number,
  gap: number,
): readonly number[] {
  const widthUpTo = (i: number, limit: number | undefined) =>
    Math.min(natural[i] ?? 0, limit ?? Number.POSITIVE_INFINITY);
  const minOf = (i: number) => widthUpTo(i, fits[i]?.cut?.min);
  const wantedOf = (i: number) => widthUpTo(i, fits[i]?.cut?.wanted);
  const sum = (widths: readonly number[]) => widths.reduce((all, width) => all + width + gap, -gap);

  const shown: number[] = [];
  for (const i of byRank(fits)) {
    const isFirst = shown.length === 0;
    if (isFirst || sum([...shown.map(wantedOf), minOf(i)]) <= screenWidth) shown.push(i);
  }
  const widths = natural.map((_, i) => (shown.includes(i) ? minOf(i) : 0));
  let left = screenWidth - sum(shown.map(minOf));
  for (const limitOf of [wantedOf, (i: number) => natural[i] ?? 0]) {
    for (const i of shown) {
      const growth = Math.max(Math.min(limitOf(i) - (widths[i] ?? 0), left), 0);
      widths[i] = (widths[i] ?? 0) + growth;
      left -= growth;
    }
  }
  return widths;
}

function byRank(fits: readonly Fit[]): readonly number[] {
  const rankOf = (i: number) => fits[i]?.rank ?? i + 1;
  return fits.map((_, i) => i).sort((a, b) => rankOf(a) - rankOf(b));
}
