/**
 * How parameters are encoded for PostgreSQL.
 *
 * Arrays are sent in binary form, so neither side has to quote and unquote every value. The statement tells the type
 * of each array, by a cast (`$1::bigint[]`). A delivery sends about fifty values. They are written one after another
 * into a scratch buffer that is used again, and are copied once their size is known.
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
const LENGTH_BYTES = 4;
const BIGINT_BYTES = 8;
const INTEGER_BYTES = 4;
/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const UNIT_BYTES_MAX = 3;
const NO_VALUE = -1;
const UINT32 = 2 ** 32;
const INTEGER_MAX = 2 ** 31 - 1;
/** A text of up to this length is written faster unit by unit than by a call of `Buffer.write`. */
const SHORT_UNITS_MAX = 64;
/** Greater code units take more than one byte. */
const ASCII_MAX = 0x7f;
/** A text with a lower code unit may have to be stored as JSON. */
const PLAIN_MIN = 2;
const SCRATCH_BYTES = 65_536;
/** A scratch buffer that grew larger than this is not kept. */
const SCRATCH_BYTES_MAX = 1_048_576;
/** Marks a text that is stored as JSON. No other stored text begins with it. */
const JSON_MARK = '\u0001';

class ScratchBuffer {
  bytes = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  view = viewOf(this.bytes);

  /** Makes sure that `bytes` more bytes fit from the offset `at` on. */
  reserve(at: number, bytes: number): void {
    if (at + bytes > this.bytes.length) this.#resize(2 * (at + bytes));
  }

  shrink(): void {
    if (this.bytes.length > SCRATCH_BYTES_MAX) this.#resize(SCRATCH_BYTES);
  }

  #resize(bytes: number): void {
    const { bytes: before } = this;
    this.bytes = Buffer.allocUnsafeSlow(bytes);
    before.copy(this.bytes);
    this.view = viewOf(this.bytes);
  }
}

const scratch = new ScratchBuffer();

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
  const end = writeValues(type, values);
  const isEmpty = values.length === 0;
  const hasNull = values.includes(null);
  scratch.view.setInt32(0, isEmpty ? 0 : 1);
  scratch.view.setInt32(4, hasNull ? 1 : 0);
  scratch.view.setInt32(8, OIDS[type]);
  scratch.view.setInt32(12, values.length);
  // Arrays of PostgreSQL count from 1.
  scratch.view.setInt32(16, 1);
  const made = Buffer.from(scratch.bytes.subarray(0, isEmpty ? HEADER_BYTES - 2 * LENGTH_BYTES : end));
  scratch.shrink();
  return made;
}

/** Writes the values after the header, and returns the offset of their end. */
function writeValues(type: ArrayType, values: readonly ArrayValue[]): number {
  const isInteger = type === 'integer';
  let at = HEADER_BYTES;
  for (const value of values) {
    if (typeof value === 'string') at = writeText(value, at);
    else {
      scratch.reserve(at, LENGTH_BYTES + BIGINT_BYTES);
      if (value === null) {
        scratch.view.setInt32(at, NO_VALUE);
        at += LENGTH_BYTES;
      } else if (typeof value !== 'number') at = writeBytes(value, at);
      else at = isInteger ? writeInteger(value, at) : writeBigint(value, at);
    }
  }
  return at;
}

function writeInteger(value: number, at: number): number {
  if (value > INTEGER_MAX || value < -INTEGER_MAX - 1)
    throw new RangeError('A number is too large to be stored.');
  scratch.view.setInt32(at, INTEGER_BYTES);
  scratch.view.setInt32(at + LENGTH_BYTES, value);
  return at + LENGTH_BYTES + INTEGER_BYTES;
}

function writeBigint(value: number, at: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError('A number cannot be stored exactly.');
  const high = Math.floor(value / UINT32);
  scratch.view.setInt32(at, BIGINT_BYTES);
  scratch.view.setInt32(at + LENGTH_BYTES, high);
  scratch.view.setUint32(at + LENGTH_BYTES + INTEGER_BYTES, value - high * UINT32);
  return at + LENGTH_BYTES + BIGINT_BYTES;
}

function writeBytes(value: Uint8Array, at: number): number {
  const start = at + LENGTH_BYTES;
  scratch.reserve(start, value.length);
  scratch.bytes.set(value, start);
  scratch.view.setInt32(at, value.length);
  return start + value.length;
}

function writeText(value: string, at: number): number {
  if (value.length > SHORT_UNITS_MAX) return writeAnyText(value, at);
  const start = at + LENGTH_BYTES;
  scratch.reserve(at, LENGTH_BYTES + SHORT_UNITS_MAX);
  const { bytes } = scratch;
  for (let index = 0; index < value.length; index++) {
    const unit = value.charCodeAt(index);
    if (unit > ASCII_MAX || unit < PLAIN_MIN) return writeAnyText(value, at);
    bytes[start + index] = unit;
  }
  scratch.view.setInt32(at, value.length);
  return start + value.length;
}

function writeAnyText(value: string, at: number): number {
  const text = encodeText(value);
  const start = at + LENGTH_BYTES;
  scratch.reserve(start, UNIT_BYTES_MAX * text.length);
  const length = scratch.bytes.write(text, start, 'utf8');
  scratch.view.setInt32(at, length);
  return start + length;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

export function encodeText(text: string): string {
  return text.includes('\0') || text.startsWith(JSON_MARK) || !text.isWellFormed()
    ? JSON_MARK + JSON.stringify(text)
    : text;
}

export function decodeText(stored: string): string {
  return stored.startsWith(JSON_MARK) ? (JSON.parse(stored.slice(JSON_MARK.length)) as string) : stored;
}
