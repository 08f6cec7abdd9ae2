/**
 * What a table holds, in a few bytes, worked out on both sides in the same way: how many rows, and the sum of a
 * digest of each. A sum does not care in which order rows come. Every value counts as PostgreSQL stores it, with
 * its length, so that nothing can stray from one column to the next; bytes count as their own digest.
 */
import { hash } from 'node:crypto';
import type { Queryable } from '#src/store/postgres/connect.ts';
import { columnsOf, type Table, type Value } from './tables.ts';

export interface Summary {
  readonly rows: number;
  readonly sum: bigint;
}

/** The digest of a row is so many hexadecimal digits of its SHA-256, as a signed number. */
const DIGEST_DIGITS = 16;
const DIGEST_BITS = 4 * DIGEST_DIGITS;
const BYTES: ReadonlySet<string> = new Set(['sealed', 'headers', 'digest']);

/** Of the rows that it is shown. */
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
    const digits = hash('sha256', values.map(pieceOf).join(''), 'hex').slice(0, DIGEST_DIGITS);
    this.#rows++;
    this.#sum += BigInt.asIntN(DIGEST_BITS, BigInt(`0x${digits}`));
  }
}

function pieceOf(value: Value): string {
  if (value === null) return '-';
  const text = value instanceof Uint8Array ? hash('sha256', value, 'hex') : String(value);
  return `${Buffer.byteLength(text)}:${text}`;
}

/** Of what is stored. */
export async function storedSummary(client: Queryable, table: Table): Promise<Summary> {
  const pieces = columnsOf(table).map((column) => {
    const text = BYTES.has(column) ? `encode(sha256(${column}), 'hex')` : `${column}::text`;
    return `COALESCE(octet_length(${text}) || ':' || ${text}, '-')`;
  });
  const digits = `left(encode(sha256(convert_to(${pieces.join(' || ')}, 'UTF8')), 'hex'), ${DIGEST_DIGITS})`;
  const { rows } = await client.query(
    `SELECT count(*)::text AS rows, COALESCE(sum(('x' || ${digits})::bit(${DIGEST_BITS})::bigint), 0)::text AS sum
     FROM ${table.name}`,
  );
  const [{ rows: count, sum }] = rows as readonly [{ readonly rows: string; readonly sum: string }];
  return { rows: Number(count), sum: BigInt(sum) };
}
