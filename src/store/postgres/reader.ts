import type { SqlValue } from './reconnecting-client.ts';

export type { SqlValue };

/** Of one row. */
export type Values = readonly unknown[];

/** Asks one statement: everything in its answer is of one moment. */
export interface Reader {
  /** Planned anew each time: the way to the rows may depend on what the tables hold by now. */
  query<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Every row is named by its whole key: there is one way to them, and it is planned once. */
  lookUp<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]>;
  /** The same, for many wide rows, where names would cost more than values: these, in the order of the columns. */
  lookUpValues(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Values[]>;
}
