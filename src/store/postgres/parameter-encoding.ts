/**
 * Arrays as PostgreSQL takes them in binary: neither side has to quote and unquote every value. What an array holds
 * is said by the statement, which casts each of them (`$1::bigint[]`).
 *
 * A delivery hands over some fifty values on its way, so they are written one behind the other into room that is
 * used again, and copied from there once the size is known.
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
const INTEGER_MAX = 2 ** 31 - 1;
/** Up to here it is quicker to write a text unit by unit than to ask for it to be written. */
const SHORT_UNITS_MAX = 64;
/** After the units of ASCII come those that take more than a byte. */
const ASCII_MAX = 0x7f;
/** Before this come those that a text may have to be marked for. */
const PLAIN_MIN = 2;
const ROOM_BYTES = 65_536;
/** Room that grew larger is not kept. */
const ROOM_BYTES_MAX = 1_048_576;

class Room {
  bytes = Buffer.allocUnsafeSlow(ROOM_BYTES);
  view = viewOf(this.bytes);

  /** Makes sure of room for so many bytes from `at` on. */
  reserve(at: number, bytes: number): void {
    if (at + bytes > this.bytes.length) this.#resize(2 * (at + bytes));
  }

  shrink(): void {
    if (this.bytes.length > ROOM_BYTES_MAX) this.#resize(ROOM_BYTES);
  }

  #resize(bytes: number): void {
    const { bytes: before } = this;
    this.bytes = Buffer.allocUnsafeSlow(bytes);
    before.copy(this.bytes);
    this.view = viewOf(this.bytes);
  }
}

const room = new Room();

export function arrayTypesOf(sql: string): ArrayTypes {
  const types: (ArrayType | null)[] = [];
  for (const [, number, type] of sql.matchAll(CAST)) types[Number(number) - 1] = type as ArrayType;
  return Array.from(types, (type) => type ?? null);
}

export function arrayParameter(type: ArrayType, values: readonly ArrayValue[]): Buffer {
  const end = writeValues(type, values);
  const isEmpty = values.length === 0;
  const hasNull = values.includes(null);
  room.view.setInt32(0, isEmpty ? 0 : 1);
  room.view.setInt32(4, hasNull ? 1 : 0);
  room.view.setInt32(8, OIDS[type]);
  room.view.setInt32(12, values.length);
  // The number of the first one.
  room.view.setInt32(16, 1);
  const made = Buffer.from(room.bytes.subarray(0, isEmpty ? HEADER_BYTES - 2 * LENGTH_BYTES : end));
  room.shrink();
  return made;
}

/** Behind the room for the header; answers where they end. */
function writeValues(type: ArrayType, values: readonly ArrayValue[]): number {
  const isInteger = type === 'integer';
  let at = HEADER_BYTES;
  for (const value of values) {
    if (typeof value === 'string') at = writeText(value, at);
    else {
      room.reserve(at, LENGTH_BYTES + BIGINT_BYTES);
      if (value === null) {
        room.view.setInt32(at, NO_VALUE);
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
  room.view.setInt32(at, INTEGER_BYTES);
  room.view.setInt32(at + LENGTH_BYTES, value);
  return at + LENGTH_BYTES + INTEGER_BYTES;
}

function writeBigint(value: number, at: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError('A number cannot be stored exactly.');
  const high = Math.floor(value / UINT32);
  room.view.setInt32(at, BIGINT_BYTES);
  room.view.setInt32(at + LENGTH_BYTES, high);
  room.view.setUint32(at + LENGTH_BYTES + INTEGER_BYTES, value - high * UINT32);
  return at + LENGTH_BYTES + BIGINT_BYTES;
}

function writeBytes(value: Uint8Array, at: number): number {
  const start = at + LENGTH_BYTES;
  room.reserve(start, value.length);
  room.bytes.set(value, start);
  room.view.setInt32(at, value.length);
  return start + value.length;
}

function writeText(value: string, at: number): number {
  if (value.length > SHORT_UNITS_MAX) return writeAnyText(value, at);
  const start = at + LENGTH_BYTES;
  room.reserve(at, LENGTH_BYTES + SHORT_UNITS_MAX);
  const { bytes } = room;
  for (let index = 0; index < value.length; index++) {
    const unit = value.charCodeAt(index);
    if (unit > ASCII_MAX || unit < PLAIN_MIN) return writeAnyText(value, at);
    bytes[start + index] = unit;
  }
  room.view.setInt32(at, value.length);
  return start + value.length;
}

function writeAnyText(value: string, at: number): number {
  const text = encodeText(value);
  const start = at + LENGTH_BYTES;
  room.reserve(start, UNIT_BYTES_MAX * text.length);
  const length = room.bytes.write(text, start, 'utf8');
  room.view.setInt32(at, length);
  return start + length;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
