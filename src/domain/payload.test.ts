import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededBytes } from '#src/store/contract/builders.ts';
import type { Headers } from './headers.ts';
import { type EndpointId, IdMint, type ScheduleId, type SecretId } from './id.ts';
import { instant } from './instant.ts';
import type { Partition } from './partition.ts';
import {
  BODY_CHARACTERS_MAX,
  decodeHeaders,
  decodePayload,
  encodeHeaders,
  encodePayload,
} from './payload.ts';
import { payloadPlace, profileHeadersPlace, signingSecretPlace } from './sealed-places.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.constantFrom('', '\ufeff', '\0', '"', '__proto__', '\ud800'),
);
const headers: fc.Arbitrary<Headers> = fc.array(fc.tuple(anyText, anyText), { maxLength: 5 });

describe('what a schedule sends', () => {
  test('comes back as it was, whatever it is', () => {
    fc.assert(
      fc.property(headers, fc.option(anyText), (given, body) => {
        const bytes = encodePayload({ headers: given, body });
        if (bytes === null) expect([given, body]).toEqual([[], null]);
        else expect(decodePayload(bytes)).toEqual({ headers: given, body });
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  test('is kept only when there is something: an empty body is something', () => {
    expect(encodePayload({ headers: [], body: null })).toBeNull();
    expect(encodePayload({ headers: [], body: '' })).not.toBeNull();
    expect(encodePayload({ headers: [['a', '']], body: null })).not.toBeNull();
  });

  test('may be as large as the limit', () => {
    const body = '🙈'.repeat(BODY_CHARACTERS_MAX);
    expect(BODY_CHARACTERS_MAX).toBe(262_144);
    expect(decodePayload(encodePayload({ headers: [], body }) ?? new Uint8Array()).body).toBe(body);
  });
});

describe('the headers of a profile', () => {
  test('come back as they were', () => {
    fc.assert(
      fc.property(headers, (given) => {
        const bytes = encodeHeaders(given);
        if (bytes === null) expect(given).toEqual([]);
        else expect(decodeHeaders(bytes)).toEqual(given);
      }),
      { numRuns: 300, seed: 2 },
    );
  });
});

test('no two places of the vault are the same', () => {
  const mint = new IdMint(seededBytes(1));
  const row = () => mint.mint('sch', instant(1)).slice(4);
  const [first, second] = [row(), row()];
  const places = [1 as Partition, 11 as Partition].flatMap((partition) =>
    [first, second].flatMap((tail) => [
      payloadPlace(partition, `sch_${tail}` as ScheduleId),
      profileHeadersPlace(partition, `ep_${tail}` as EndpointId),
      signingSecretPlace(partition, `sec_${tail}` as SecretId),
    ]),
  );
  expect(new Set(places).size).toBe(places.length);
});
