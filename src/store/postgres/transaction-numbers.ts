/**
 * Every transaction stores its number in a row of its writer. If the answer to a commit is lost, the row tells whether
 * the transaction was committed (see `executor.ts`).
 */
import type { SqlValue } from './parameter-encoding.ts';

/** The statements about one row. Parameters: those of the row, then the number and the instant. */
export interface NumberRow {
  /** Finds no row if the writer has already stored a higher number: then this transaction came too late. */
  readonly store: string;
  /** The same, but fails instead. */
  readonly storeOrFail: string;
  /**
   * Raises the number, unless it is the one of the transaction that is looked up. Writes in both cases. If commits
   * wait for a standby, this one waits for it, which the lost one may not have done.
   */
  readonly raise: string;
  readonly parameters: readonly SqlValue[];
}

export interface NumberTexts extends Omit<NumberRow, 'parameters'> {}

export function numberTexts(table: string, key: readonly string[]): NumberTexts {
  const columns = [...key, 'last', 'at'];
  const insert = `INSERT INTO ${table} (${columns.join(', ')})
    VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')}) ON CONFLICT (${key.join(', ')})`;
  const store = `${insert} DO UPDATE SET last = excluded.last, at = excluded.at
    WHERE ${table}.last < excluded.last RETURNING 1`;
  return {
    store,
    storeOrFail: `WITH marked AS (${store}) SELECT 1 / count(*) FROM marked`,
    raise: `${insert} DO UPDATE SET at = excluded.at,
      last = CASE WHEN ${table}.last = excluded.last - 1 THEN ${table}.last ELSE excluded.last END
      RETURNING last`,
  };
}

const OF_WRITER = numberTexts('writers', ['writer']);

export function numberOfWriter(writer: string): NumberRow {
  return { ...OF_WRITER, parameters: [writer] };
}
