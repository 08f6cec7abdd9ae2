/**
 * Arrays as PostgreSQL takes them in binary: neither side has to quote and unquote every value. What an array holds
 * is said by the statement, which casts each of them (`$1::bigint[]`).
 */
import { encodeText } from './text.ts';

export type ArrayType = 'bigint' | 'integer' | 'text' | 'bytea';
export type ArrayValue = string | number | Uint8Array | null;

/** In the order of the parameters; null for those that are no arrays. */
export type ArrayTypes = readonly (ArrayType | null)[];

const CAST = /\$(\d+)::(bigint|integer|text|bytea)\[\]/g;

const OIDS: Readonly<Record<ArrayType, number>> = { bytea: 17, bigint: 20, integer: 23, text: 25 };

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const BIGINT_BYTES = 8;
const INTEGER_BYTES = 4;
/** Of UTF-8, for each unit of a string. */
const UNIT_BYTES_MAX = 3;
const NO_VALUE = -1;
const UINT32 = 2 ** 32;

export function arrayTypesOf(sql: string): ArrayTypes {
  const types: (ArrayType | null)[] = [];
  for (const [, number, type] of sql.matchAll(CAST)) types[Number(number) - 1] = type as ArrayType;
  return Array.from(types, (type) => type ?? null);
}

export function arrayParameter(type: ArrayType, given: readonly ArrayValue[]): Buffer {
  const values = type === 'text' ? given.map(storable) : given;
  const buffer = Buffer.allocUnsafe(bytesMax(type, values));
  let hasNull = 0;
  let at = HEADER_BYTES;
  for (const value of values) {
    if (value === null) {
      hasNull = 1;
      at = buffer.writeInt32BE(NO_VALUE, at);
    } else at = write(buffer, type, value, at);
  }
  const dimensions = values.length === 0 ? 0 : 1;
  buffer.writeInt32BE(dimensions, 0);
  buffer.writeInt32BE(hasNull, 4);
  buffer.writeInt32BE(OIDS[type], 8);
  buffer.writeInt32BE(values.length, 12);
  // The number of the first one.
  buffer.writeInt32BE(1, 16);
  return buffer.subarray(0, dimensions === 0 ? HEADER_BYTES - 2 * LENGTH_BYTES : at);
}

function storable(value: ArrayValue): ArrayValue {
  return typeof value === 'string' ? encodeText(value) : value;
}

/** Answers where the next one goes. */
function write(buffer: Buffer, type: ArrayType, value: string | number | Uint8Array, at: number): number {
  const start = at + LENGTH_BYTES;
  if (typeof value === 'number') {
    if (type === 'integer') return buffer.writeInt32BE(value, buffer.writeInt32BE(INTEGER_BYTES, at));
    const high = Math.floor(value / UINT32);
    buffer.writeInt32BE(BIGINT_BYTES, at);
    return buffer.writeUInt32BE(value - high * UINT32, buffer.writeInt32BE(high, start));
  }
  if (typeof value !== 'string') {
    buffer.set(value, start);
    return start + lengthAt(buffer, at, value.length);
  }
  return start + lengthAt(buffer, at, buffer.write(value, start, 'utf8'));
}

function lengthAt(buffer: Buffer, at: number, length: number): number {
  buffer.writeInt32BE(length, at);
  return length;
}

function bytesMax(type: ArrayType, values: readonly ArrayValue[]): number {
  const fixed = HEADER_BYTES + values.length * (LENGTH_BYTES + BIGINT_BYTES);
  if (type === 'bigint' || type === 'integer') return fixed;
  let bytes = fixed;
  for (const value of values) {
    if (typeof value === 'string') bytes += UNIT_BYTES_MAX * value.length;
    else if (value instanceof Uint8Array) bytes += value.length;
  }
  return bytes;
}
