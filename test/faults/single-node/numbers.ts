/** Median, 99th percentile and maximum of measured values. */
export interface Spread {
  readonly count: number;
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number) =>
    sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN;
  return { count: sorted.length, median: at(0.5), p99: at(0.99), max: at(1) };
}

export function formatSpread({ count, median, p99, max }: Spread): string {
  return `median ${Math.round(median)}, p99 ${Math.round(p99)}, max ${Math.round(max)} ms (${count})`;
}

/** Prints a table of two columns. */
export function printTable(title: string, rows: Readonly<Record<string, unknown>>): void {
  console.log(`\n${title}`);
  const width = Math.max(...Object.keys(rows).map((name) => name.length));
  for (const [name, value] of Object.entries(rows)) console.log(`  ${name.padEnd(width)}  ${String(value)}`);
}
