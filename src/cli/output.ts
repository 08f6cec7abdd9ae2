/** What a command prints: a table or a line for a person, one line of JSON for a program. */
import { formatInstant, type Instant } from '#src/domain/instant.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** The same answer in both forms. */
export interface Answer {
  readonly json: Json;
  readonly text: string;
}

const GAP = '  ';

/** Columns as wide as their widest cell, no lines, nothing after the last one. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  const lines = rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(GAP));
  return lines.map((line) => line.trimEnd()).join('\n');
}

export function instantOr(at: Instant | null, otherwise: string): string {
  return at === null ? otherwise : formatInstant(at);
}
