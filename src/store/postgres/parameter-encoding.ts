/**
 * How parameters are encoded for PostgreSQL.
 *
 * Arrays are sent in binary form, so neither side has to quote and unquote every value. The statement tells the type
 * of each array, by a cast (`$1::bigint[]`).
 *
 * PostgreSQL text can hold neither NUL nor an unpaired surrogate, and customers may send both inside JSON. Such a
 * text is stored as JSON after a mark.
 */
export type ArrayType = 'bigint' | 'integer' | 'text' | 'bytea';
export type ArrayValue = string | number | Uint8Array | null;
export type SqlValue = ArrayValue | readonly ArrayValue[];

/** The type of each parameter, in order; null for a parameter that is not an array. */
export type ArrayTypes = readonly (ArrayType | null)[];

const CAST = /\$(\d+)::(bigint|integer|text|bytea)\[\]/g;

const OIDS: Readonly<Record<ArrayType, number>> = { bytea: 17, bigint: 20, integer: 23, text: 25 };

const HEADER_BYTES = 20;
/** The header of an array without values tells neither their number nor where they begin. */
const EMPTY_HEADER_BYTES = 12;
const LENGTH_BYTES = 4;
const VALUE_BYTES: Readonly<Partial<Record<ArrayType, number>>> = { bigint: 8, integer: 4 };
const NO_VALUE = -1;
const UINT32 = 2 ** 32;
/** Units of longer texts are not looked at one by one. */
const SHORT_UNITS_MAX = 64;
/** Greater code units take more than one byte. */
const ASCII_MAX = 0x7f;
/** A text with a lower code unit may have to be stored as JSON. */
const PLAIN_MIN = 2;
/** Marks a text that is stored as JSON. No other stored text begins with it. */
const JSON_MARK = '\u0001';

/** The element types of the array parameters, as the statement casts them. */
export function arrayTypesOf(sql: string): ArrayTypes {
  const types: (ArrayType | null)[] = [];
  for (const [, number, type] of sql.matchAll(CAST)) types[Number(number) - 1] = type as ArrayType;
  return Array.from(types, (type) => type ?? null);
}

export function encodeParameters(
  parameters: readonly SqlValue[],
  arrays: ArrayTypes,
): (string | Buffer | null)[] {
  return parameters.map((value, index) => {
    const type = arrays[index] ?? null;
    if (isArray(value)) {
      if (type === null)
        throw new Error(
          'An array parameter has no cast: the statement must name its type, as in $1::text[].',
        );
      return arrayParameter(type, value);
    }
    if (value === null) return null;
    if (typeof value === 'object') return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return typeof value === 'string' ? encodeText(value) : String(value);
  });
}

function isArray(value: SqlValue): value is readonly ArrayValue[] {
  return Array.isArray(value);
}

export function arrayParameter(type: ArrayType, given: readonly ArrayValue[]): Buffer {
  const isPlain = given.every(isPlainValue);
  const values = isPlain ? given : given.map(encodeValue);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + bytesOf(type, values, isPlain));
  bytes.writeInt32BE(values.length === 0 ? 0 : 1, 0);
  bytes.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  bytes.writeInt32BE(OIDS[type], 8);
  bytes.writeInt32BE(values.length, 12);
  // Arrays of PostgreSQL count from 1.
  bytes.writeInt32BE(1, 16);
  let at = HEADER_BYTES;
  for (const value of values) {
    const end = value === null ? at + LENGTH_BYTES : write(type, value, bytes, at + LENGTH_BYTES);
    bytes.writeInt32BE(value === null ? NO_VALUE : end - at - LENGTH_BYTES, at);
    at = end;
  }
  return values.length === 0 ? bytes.subarray(0, EMPTY_HEADER_BYTES) : bytes;
}

/** Whether a value is no text, or one that is stored as it is, a byte for each of its few code units. */
function isPlainValue(value: ArrayValue): boolean {
  if (typeof value !== 'string') return true;
  if (value.length > SHORT_UNITS_MAX) return false;
  for (let index = 0; index < value.length; index++) {
    const unit = value.charCodeAt(index);
    if (unit > ASCII_MAX || unit < PLAIN_MIN) return false;
  }
  return true;
}

function encodeValue(value: ArrayValue): ArrayValue {
  return typeof value === 'string' ? encodeText(value) : value;
}

function bytesOf(type: ArrayType, values: readonly ArrayValue[], isPlain: boolean): number {
  const fixed = VALUE_BYTES[type];
  let sum = LENGTH_BYTES * values.length;
  for (const value of values) {
    if (typeof value === 'number') sum += fixed ?? 0;
    else if (value !== null) sum += isPlain ? value.length : Buffer.byteLength(value);
  }
  return sum;
}

/** Writes a value at the offset, and returns the offset of its end. */
function write(type: ArrayType, value: string | number | Uint8Array, bytes: Buffer, at: number): number {
  if (typeof value === 'string') return at + writeText(value, bytes, at);
  if (typeof value !== 'number') {
    bytes.set(value, at);
    return at + value.length;
  }
  if (type === 'integer') return bytes.writeInt32BE(value, at);
  if (!Number.isSafeInteger(value)) throw new RangeError('A number cannot be stored exactly.');
  const high = Math.floor(value / UINT32);
  bytes.writeInt32BE(high, at);
  return bytes.writeUInt32BE(value - high * UINT32, at + 4);
}

/** Returns the number of bytes. Short texts are written faster unit by unit than by the buffer. */
function writeText(text: string, bytes: Buffer, at: number): number {
  if (text.length > SHORT_UNITS_MAX) return bytes.write(text, at);
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > ASCII_MAX) return bytes.write(text, at);
    bytes[at + index] = unit;
  }
  return text.length;
}

export function encodeText(text: string): string {
  return text.includes('\0') || text.startsWith(JSON_MARK) || !text.isWellFormed()
    ? JSON_MARK + JSON.stringify(text)
    : text;
}

export function decodeText(stored: string): string {
  return stored.startsWith(JSON_MARK) ? (JSON.parse(stored.slice(JSON_MARK.length)) as string) : stored;
}
