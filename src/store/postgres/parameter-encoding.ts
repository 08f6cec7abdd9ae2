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
const NUMBER_BYTES: Readonly<Partial<Record<ArrayType, number>>> = { bigint: 8, integer: 4 };
const NO_VALUE = -1;
const UINT32 = 2 ** 32;
const CHARACTER_BYTES_MAX = 4;
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

export function arrayParameter(type: ArrayType, values: readonly ArrayValue[]): Buffer {
  if (type !== 'text') return arrayOf(type, values as readonly (number | Uint8Array | null)[]);
  const texts = values as readonly (string | null)[];
  return plainTexts(texts) ?? arrayOf('text', texts.map(toStored));
}

/** Writes texts as they are, with a byte for each code unit. Null if one of them cannot be written so. */
function plainTexts(texts: readonly (string | null)[]): Buffer | null {
  let end = HEADER_BYTES;
  for (const text of texts) end += LENGTH_BYTES + (text === null ? 0 : text.length);
  const bytes = Buffer.allocUnsafe(end + CHARACTER_BYTES_MAX);
  const view = headerOf('text', texts, bytes);
  let at = HEADER_BYTES;
  for (const text of texts) {
    const units = text === null ? NO_VALUE : text.length;
    view.setInt32(at, units);
    at += LENGTH_BYTES;
    if (text === null) continue;
    // With room for one more character, a text that takes more bytes than it has units is seen by their number.
    if (bytes.write(text, at) !== units || isMarked(text)) return null;
    at += units;
  }
  return bytes.subarray(0, texts.length === 0 ? EMPTY_HEADER_BYTES : end);
}

function toStored(text: string | null): Uint8Array | null {
  return text === null ? null : Buffer.from(encodeText(text));
}

function arrayOf(type: ArrayType, values: readonly (number | Uint8Array | null)[]): Buffer {
  const numberBytes = NUMBER_BYTES[type] ?? 0;
  let end = HEADER_BYTES;
  for (const value of values) end += LENGTH_BYTES + (value === null ? 0 : bytesOf(value, numberBytes));
  const bytes = Buffer.allocUnsafe(end);
  const view = headerOf(type, values, bytes);
  let at = HEADER_BYTES;
  for (const value of values) {
    const size = value === null ? NO_VALUE : bytesOf(value, numberBytes);
    view.setInt32(at, size);
    at += LENGTH_BYTES;
    if (value === null) continue;
    if (typeof value !== 'number') bytes.set(value, at);
    else if (type === 'integer') writeInteger(value, view, at);
    else writeBigint(value, view, at);
    at += size;
  }
  return values.length === 0 ? bytes.subarray(0, EMPTY_HEADER_BYTES) : bytes;
}

function bytesOf(value: number | Uint8Array, numberBytes: number): number {
  return typeof value === 'number' ? numberBytes : value.length;
}

function headerOf(type: ArrayType, values: readonly ArrayValue[], bytes: Buffer): DataView {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  view.setInt32(0, values.length === 0 ? 0 : 1);
  view.setInt32(4, values.includes(null) ? 1 : 0);
  view.setInt32(8, OIDS[type]);
  view.setInt32(12, values.length);
  // Arrays of PostgreSQL count from 1.
  view.setInt32(16, 1);
  return view;
}

function writeInteger(value: number, view: DataView, at: number): void {
  if ((value | 0) !== value) throw new RangeError('A number does not fit.');
  view.setInt32(at, value);
}

function writeBigint(value: number, view: DataView, at: number): void {
  if (!Number.isSafeInteger(value)) throw new RangeError('A number cannot be stored exactly.');
  const high = Math.floor(value / UINT32);
  view.setInt32(at, high);
  view.setUint32(at + 4, value - high * UINT32);
}

/** Whether the text has to be stored as JSON although all its characters are ASCII. */
function isMarked(text: string): boolean {
  return text.includes('\0') || text.startsWith(JSON_MARK);
}

export function encodeText(text: string): string {
  return isMarked(text) || !text.isWellFormed() ? JSON_MARK + JSON.stringify(text) : text;
}

export function decodeText(stored: string): string {
  return stored.startsWith(JSON_MARK) ? (JSON.parse(stored.slice(JSON_MARK.length)) as string) : stored;
}
