import * as fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedPostgres } from '#test/postgres/shared.ts';
import {
  type ArrayType,
  type ArrayValue,
  arrayParameter,
  arrayTypesOf,
  decodeText,
  encodeText,
} from './parameter-encoding.ts';

let client: Client;
beforeAll(async () => {
  client = new Client({ connectionString: await sharedPostgres() });
  await client.connect();
});
afterAll(() => client.end());

test('the types of array parameters are read from the casts of a statement', () => {
  expect(
    arrayTypesOf('SELECT unnest($1::bigint[], $2::text[]) WHERE $3 = 1 AND x = ANY($4::bytea[])'),
  ).toEqual(['bigint', 'text', null, 'bytea']);
  expect(arrayTypesOf('SELECT $1')).toEqual([]);
});

/** The values that the server received, as text. */
async function received(type: ArrayType, values: readonly ArrayValue[]): Promise<readonly (string | null)[]> {
  const { rows } = await client.query<{ value: string | null }>(
    `SELECT value::text FROM unnest($1::${type}[]) WITH ORDINALITY AS t (value, position) ORDER BY position`,
    [arrayParameter(type, values)],
  );
  return rows.map(({ value }) => value);
}

test.for([
  ['bigint', [0, 1, -1, null, 2 ** 32, -(2 ** 32) - 7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]],
  ['integer', [0, -1, null, 2 ** 31 - 1, -(2 ** 31)]],
  ['bigint', []],
  ['text', [null]],
] as const)('numbers are encoded: %s %j', async ([type, values]) => {
  expect(await received(type, values)).toEqual(
    values.map((value) => (value === null ? null : String(value))),
  );
});

test.each([
  ['integer', 2 ** 31],
  ['bigint', 2 ** 63],
  ['bigint', Number.POSITIVE_INFINITY],
] as const)('a number that does not fit is refused: %s %d', (type, value) => {
  expect(() => arrayParameter(type, [value])).toThrow(RangeError);
});

test('texts of every length are encoded, and do not overwrite earlier ones', async () => {
  const lengths = [0, 63, 64, 65, 1_000, 70_000, 1_200_000];
  const texts = [...lengths.map((units) => 'x'.repeat(units)), null, 'é'.repeat(64), 'last'];
  const before = arrayParameter('text', ['before']);
  const copy = Buffer.from(before);
  expect(await received('text', texts)).toEqual(texts);
  expect(await received('text', ['small'])).toEqual(['small']);
  expect(before).toEqual(copy);
});

test('bytes are encoded', async () => {
  const bytes = Uint8Array.of(0, 1, 255, 92, 34);
  expect(await received('bytea', [bytes, new Uint8Array(), null])).toEqual(['\\x0001ff5c22', '\\x', null]);
});

test('every text is encoded', async () => {
  const unit = fc.constantFrom(
    '\0',
    '\u0001',
    '"',
    '\\',
    'a',
    'é',
    '€',
    '\u{1f600}',
    '\ud800',
    'NULL',
    '{',
    ',',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(fc.string({ unit }))), async (texts) => {
      const stored = await received('text', texts);
      expect(stored.map((text) => (text === null ? null : decodeText(text)))).toEqual(texts);
    }),
    { numRuns: 30 },
  );
});

test('ordinary text is stored as it is', () => {
  for (const text of ['', 'https://example.com/?q=1', 'schön \u{1f600}', '"\\u0000"', ' \u0001']) {
    expect(encodeText(text)).toBe(text);
  }
});

test.for(['\0', 'a\0b', '\u0001', '\u0001"x"', '\ud800', 'a\udc00b', '\u0001\0'])(
  '%j is decoded to itself',
  (text) => {
    const stored = encodeText(text);
    expect(stored.includes('\0')).toBe(false);
    expect(stored.isWellFormed()).toBe(true);
    expect(decodeText(stored)).toBe(text);
  },
);

test('every text is decoded to itself, and no two have the same encoding', () => {
  const text = fc.string({ unit: fc.constantFrom('\0', '\u0001', '"', '\\', 'a', '\ud800', '\udc00') });
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(decodeText(encodeText(one))).toBe(one);
      expect(encodeText(one) === encodeText(other)).toBe(one === other);
    }),
  );
});
