import type { SqlValue } from './link.ts';

export type { SqlValue };

/** Asks one statement: everything in its answer is of one moment. */
export interface Reader {
  ask<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]>;
}
