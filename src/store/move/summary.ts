/**
 * A summary of a table, computed in the same way on both sides: the number of rows, and the sum of a digest of each
 * row. A sum does not depend on the order of rows. Each value counts as PostgreSQL stores it, together with its
 * length, so that no value can shift into the next column. Bytes count by their own digest.
 */
import { hash } from 'node:crypto';
import { typeOf } from '#src/store/postgres/array-rows.ts';
import type { Queryable } from '#src/store/postgres/connect.ts';
import { columnsOf, type Table, type Value } from './tables.ts';

export interface Summary {
  readonly rows: number;
  readonly sum: bigint;
}

/** The digest of a row: this many hexadecimal digits of its SHA-256, as a signed number. */
const DIGEST_DIGITS = 16;
const DIGEST_BITS = 4 * DIGEST_DIGITS;

/** Summarises the rows that are added. */
export class RunningSummary implements Summary {
  #rows = 0;
  #sum = 0n;

  get rows(): number {
    return this.#rows;
  }

  get sum(): bigint {
    return this.#sum;
  }

  add(values: readonly Value[]): void {
    const digits = hash('sha256', values.map(partOf).join(''), 'hex').slice(0, DIGEST_DIGITS);
    this.#rows++;
    this.#sum += BigInt.asIntN(DIGEST_BITS, BigInt(`0x${digits}`));
  }
}

function partOf(value: Value): string {
  if (value === null) return '-';
  const text = value instanceof Uint8Array ? hash('sha256', value, 'hex') : String(value);
  return `${Buffer.byteLength(text)}:${text}`;
}

/** Summarises the stored rows. */
export async function storedSummary(client: Queryable, table: Table): Promise<Summary> {
  const parts = columnsOf(table).map((column) => {
    const text = typeOf(column) === 'bytea' ? `encode(sha256(${column}), 'hex')` : `${column}::text`;
    return `COALESCE(octet_length(${text}) || ':' || ${text}, '-')`;
  });
  const digits = `left(encode(sha256(convert_to(${parts.join(' || ')}, 'UTF8')), 'hex'), ${DIGEST_DIGITS})`;
  const { rows } = await client.query(
    `SELECT count(*)::text AS rows, COALESCE(sum(('x' || ${digits})::bit(${DIGEST_BITS})::bigint), 0)::text AS sum
     FROM ${table.name}`,
  );
  const [{ rows: count, sum }] = rows as readonly [{ readonly rows: string; readonly sum: string }];
  return { rows: Number(count), sum: BigInt(sum) };
}
