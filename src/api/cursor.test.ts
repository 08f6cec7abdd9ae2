import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '#src/domain/errors.ts';
import { IdMint, parseId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { seededBytes } from '#test/store-contract/builders.ts';
import { decodeCursor, encodeCursor, type List } from './cursor.ts';

const KINDS = ['sch', 'dlv', 'ep'] as const;
const ids = new IdMint(seededBytes(3));
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const positions = fc
  .tuple(fc.constantFrom(...KINDS), fc.integer({ min: 0, max: 2 ** 48 - 1 }))
  .map(([kind, at]) => ids.mint(kind, instant(at)) as string);
const lists: fc.Arbitrary<List> = fc.record({
  partition: fc.integer({ min: 1, max: 1_000_000 }).map((number) => number as Partition),
  name: fc.oneof(
    fc.constantFrom('schedules', 'deliveries', 'endpoints'),
    positions.map((id) => `deliveries of ${id}`),
    positions.map((id) => `attempts of ${id}`),
  ),
});

/** Parses any position that has the form of an id, as the lists of the API do. */
function anyId(text: string): string | null {
  return KINDS.map((kind) => parseId(kind, text)).find((id) => id !== null) ?? null;
}

function anyText(text: string): string {
  return text;
}

function expectRefused(list: List, cursor: string, parse: (text: string) => string | null = anyId): void {
  expect(() => decodeCursor(list, cursor, parse), cursor).toThrow(
    expect.objectContaining({ code: 'invalid_cursor', param: 'cursor' }) as Refusal,
  );
}

describe('a cursor', () => {
  test('is decoded by the list it came from', () => {
    fc.assert(
      fc.property(lists, positions, (list, position) => {
        expect(decodeCursor(list, encodeCursor(list, position), anyId)).toBe(position);
      }),
      { numRuns: 1_000, seed: 1 },
    );
    const attempts: List = { partition: 1 as Partition, name: 'attempts of dlv_1' };
    for (let number = 1; number <= 60; number++) {
      expect(decodeCursor(attempts, encodeCursor(attempts, String(number)), Number)).toBe(number);
    }
  });

  test('needs no escaping in a query', () => {
    fc.assert(
      fc.property(lists, positions, (list, position) => {
        expect(encodeCursor(list, position)).toMatch(/^[\w-]+$/);
      }),
      { numRuns: 200, seed: 2 },
    );
  });

  test('is refused by every other list and by every other tenant', () => {
    fc.assert(
      fc.property(lists, lists, positions, (list, other, position) => {
        fc.pre(list.partition !== other.partition || list.name !== other.name);
        const cursor = encodeCursor(list, position);
        expectRefused(other, cursor);
        expectRefused({ ...list, partition: (list.partition + 1) as Partition }, cursor);
        expectRefused({ ...list, name: `${list.name}x` }, cursor);
      }),
      { numRuns: 500, seed: 3 },
    );
  });

  test('is refused with any one character changed', () => {
    fc.assert(
      fc.property(lists, positions, fc.nat(), fc.nat(), (list, position, place, other) => {
        const cursor = encodeCursor(list, position);
        const at = place % cursor.length;
        const replacement = BASE64URL[other % BASE64URL.length] ?? 'A';
        fc.pre(replacement !== cursor[at]);
        const changed = cursor.slice(0, at) + replacement + cursor.slice(at + 1);
        expectRefused(list, changed);
        expectRefused(list, changed, anyText);
      }),
      { numRuns: 2_000, seed: 4 },
    );
  });

  test('is refused if it is cut, extended, padded or encoded differently', () => {
    const list: List = { partition: 1 as Partition, name: 'schedules' };
    const cursor = encodeCursor(list, ids.mint('sch', instant(0)));
    for (let length = 0; length < cursor.length; length++)
      expectRefused(list, cursor.slice(0, length), anyText);
    for (const end of [...BASE64URL.split(''), '=', '==', ' ', '\n', '.', '%'])
      expectRefused(list, cursor + end, anyText);
    expectRefused(list, ` ${cursor}`, anyText);
    expectRefused(list, cursor.toUpperCase(), anyText);
    expectRefused(list, Buffer.from(cursor, 'base64url').toString('hex'), anyText);
  });

  test('is refused if its position is not valid for the list', () => {
    const list: List = { partition: 1 as Partition, name: 'schedules' };
    const delivery = encodeCursor(list, ids.mint('dlv', instant(0)));
    expectRefused(list, delivery, (text) => parseId('sch', text));
  });

  test('is refused if it is any other text', () => {
    const list: List = { partition: 1 as Partition, name: 'schedules' };
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String(), fc.uuid()), (text) => {
        expectRefused(list, text, anyText);
      }),
      { numRuns: 200, seed: 5 },
    );
    expect(() => decodeCursor(list, 'A'.repeat(1_000_000), anyText)).toThrow(Refusal);
  });
});
