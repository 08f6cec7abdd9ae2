import type { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemTimers } from '#src/system/timers.ts';
import { addressOf } from '#test/postgres/contract-databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { connect } from './connect.ts';
import { encodeText } from './parameter-encoding.ts';
import { lookUpValues } from './value-rows.ts';

const MARKED = 'a\0b';
const EVERY_TYPE = `SELECT n::bigint AS a, n::integer AS a, $1::text AS b, '\\x01ff'::bytea AS c, NULL::text AS d
  FROM generate_series(1, $2::integer) AS n`;
const ROW = [1, 1, MARKED, Buffer.from([1, 255]), null];

let client: Client;
let described = 0;
beforeEach(async () => {
  client = await connect(addressOf(await sharedPostgres()), { timers: systemTimers });
  described = 0;
  client.connection.on('rowDescription', () => described++);
});
afterEach(() => client.end());

function lookUp(name: string | undefined, text: string, ...values: string[]) {
  return lookUpValues(client, { text, values, ...(name === undefined ? {} : { name }) });
}

test.for(['kept', undefined])(
  'values of every type are read, and described once (name: %s)',
  async (name) => {
    const ask = () => lookUp(name, EVERY_TYPE, encodeText(MARKED), '2');
    const first = await ask();
    expect(first).toEqual([ROW, [2, 2, ...ROW.slice(2)]]);
    expect(await ask()).toEqual(first);
    expect(await Promise.all([ask(), ask()])).toEqual([first, first]);
    expect(described).toBe(1);
  },
);

test('look-ups that are sent together each get their rows', async () => {
  const rows = await Promise.all([1, 0, 3].map((n) => lookUp('kept', EVERY_TYPE, 'x', String(n))));
  expect(rows.map(({ length }) => length)).toEqual([1, 0, 3]);
});

test('after an error the next look-up succeeds', async () => {
  const quotient = (by: string) => lookUp('quotient', 'SELECT 6 / $1::integer', by);
  await expect(quotient('0')).rejects.toMatchObject({ code: '22012' });
  expect(await quotient('2')).toEqual([[3]]);
  await expect(quotient('0')).rejects.toMatchObject({ code: '22012' });
  expect(await quotient('3')).toEqual([[2]]);
  await expect(lookUp('wrong', 'SELECT nothing')).rejects.toMatchObject({ code: '42703' });
  expect(await quotient('1')).toEqual([[6]]);
});

test('a value that cannot be read fails its look-up only', async () => {
  await expect(lookUp('text', 'SELECT $1::text', '\u0001{')).rejects.toThrow(SyntaxError);
  expect(await lookUp('text', 'SELECT $1::text', 'plain')).toEqual([['plain']]);
});
