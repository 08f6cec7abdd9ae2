import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededBytes } from '#test/store-contract/builders.ts';
import type { Headers } from './headers.ts';
import { type EndpointId, IdMint, type ScheduleId, type SecretId } from './id.ts';
import { instant } from './instant.ts';
import {
  BODY_CHARACTERS_MAX,
  decodeHeaders,
  decodePayload,
  encodeHeaders,
  encodePayload,
} from './payload.ts';
import type { Partition } from './project.ts';
import {
  endpointSecretContext,
  payloadContext,
  profileHeadersContext,
  signingSecretContext,
} from './sealing-contexts.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.constantFrom('', '\ufeff', '\0', '"', '__proto__', '\ud800'),
);
const headers: fc.Arbitrary<Headers> = fc.array(fc.tuple(anyText, anyText), { maxLength: 5 });

describe('the payload of a schedule', () => {
  test('is decoded as it was encoded, also from the format of earlier versions', () => {
    for (const [body, isJson] of [
      ['{"a":1}', true],
      ['a=1', false],
      ['', false],
      [null, false],
    ] as const) {
      const stored = Buffer.from(JSON.stringify({ headers: [['X-Order', '1']], body }));
      const sent = body === null ? null : Buffer.from(body);
      expect(decodePayload(stored)).toEqual({ headers: [['X-Order', '1']], body: sent, isJson });
    }
  });

  test('is decoded as it was encoded, with any content', () => {
    fc.assert(
      fc.property(headers, fc.option(anyText), fc.boolean(), (given, text, isJson) => {
        const body = text === null ? null : text.toWellFormed();
        const bytes = encodePayload(given, body, isJson);
        if (bytes === null) expect([given, body]).toEqual([[], null]);
        else {
          const sent = body === null ? null : Buffer.from(body);
          expect(decodePayload(bytes)).toEqual({ headers: given, body: sent, isJson });
        }
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  test('is stored only when there is something, and an empty body is something', () => {
    expect(encodePayload([], null, false)).toBeNull();
    expect(encodePayload([], '', false)).not.toBeNull();
    expect(encodePayload([['a', '']], null, false)).not.toBeNull();
  });

  test('may be as large as the limit', () => {
    const body = '🙈'.repeat(BODY_CHARACTERS_MAX);
    expect(BODY_CHARACTERS_MAX).toBe(262_144);
    const decoded = decodePayload(encodePayload([], body, false) ?? new Uint8Array());
    expect(Buffer.from(decoded.body ?? []).toString()).toBe(body);
  });
});

describe('the headers of a profile', () => {
  test('are decoded as they were encoded', () => {
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

test('no two sealing contexts are the same', () => {
  const mint = new IdMint(seededBytes(1));
  const row = () => mint.mint('sch', instant(1)).slice(4);
  const [first, second] = [row(), row()];
  const places = [1 as Partition, 11 as Partition].flatMap((partition) =>
    [first, second].flatMap((tail) => [
      payloadContext(partition, `sch_${tail}` as ScheduleId, 1),
      profileHeadersContext(partition, `ep_${tail}` as EndpointId, 1),
      profileHeadersContext(partition, `ep_${tail}` as EndpointId, 11),
      signingSecretContext(partition, `sec_${tail}` as SecretId),
      endpointSecretContext(partition, `ep_${first}` as EndpointId, `sec_${tail}` as SecretId),
      endpointSecretContext(partition, `ep_${second}` as EndpointId, `sec_${tail}` as SecretId),
    ]),
  );
  expect(new Set(places).size).toBe(places.length);
});
