/** Reads and replaces sealed values, for every store that speaks SQL. All SQL is made from the list of columns. */
import {
  SEALED_HEAD_BYTES,
  type SealedColumnName,
  type SealedEntry,
  type SealedKey,
  type SealedReplacement,
  type SealedStore,
} from '#src/ports/vault.ts';
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts';
import type { SqlRunner, Step } from './steps.ts';

interface EntryRow extends Readonly<Record<string, unknown>> {
  readonly head: Uint8Array | null;
  readonly bytes: number | null;
}

interface ValueRow {
  readonly sealed: Uint8Array | null;
}

export class SqlSealed implements SealedStore {
  readonly #sql: SqlRunner;

  constructor(sql: SqlRunner) {
    this.#sql = sql;
  }

  async listSealed(
    name: SealedColumnName,
    after: SealedKey | null,
    limit: number,
  ): Promise<readonly SealedEntry[]> {
    const column = SEALED_COLUMNS[name];
    const rows = await this.#sql.query<EntryRow>(entriesAfter(column, after), ...(after ?? []), limit);
    return rows.map((row) => {
      const key = column.key.map((part) => row[part] as string | number);
      return { key, context: column.context(key), head: row.head, bytes: row.bytes ?? 0 };
    });
  }

  async findSealed(name: SealedColumnName, key: SealedKey): Promise<Uint8Array | null> {
    const { table, column, key: columns } = SEALED_COLUMNS[name];
    const which = columns.map((part, index) => `${part} = $${index + 1}`).join(' AND ');
    const sql = `SELECT ${column} AS sealed FROM ${table} WHERE ${which}`;
    const [row] = await this.#sql.query<ValueRow>(sql, ...key);
    return row?.sealed ?? null;
  }

  /** The replacements share a transaction, unless one of them is stale. */
  async replaceSealed(
    name: SealedColumnName,
    replacements: readonly SealedReplacement[],
  ): Promise<readonly ('done' | 'stale')[]> {
    const steps = replacements.map(({ key, was, sealed }): Step => {
      return [`reseal ${name}`, 'stale', sealed, ...key, was];
    });
    const answer = await this.#sql.run<'stale'>(steps);
    if (answer === 'done' || steps.length === 1) return steps.map(() => answer);
    return Promise.all(steps.map((step) => this.#sql.run<'stale'>([step])));
  }
}

function entriesAfter({ table, key, column }: SealedColumn, after: SealedKey | null): string {
  const order = key.join(', ');
  const placeholders = key.map((_, index) => `$${index + 1}`).join(', ');
  return `SELECT ${order}, substr(${column}, 1, ${SEALED_HEAD_BYTES}) AS head, length(${column}) AS bytes
    FROM ${table} ${after === null ? '' : `WHERE (${order}) > (${placeholders})`}
    ORDER BY ${order} LIMIT $${after === null ? 1 : key.length + 1}`;
}
