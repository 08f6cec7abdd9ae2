/** Checks `verify` against the vectors, and the vectors against the signer of the service. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { verify } from '#sdk/receiver/verify.ts';
import { vectorsText } from '../../scripts/write-vectors.ts';
import { VECTORS, VECTORS_FILE, type Vector } from './vectors.ts';

it('the vectors match the signer of the service (`node scripts/write-vectors.ts` writes them)', () => {
  expect(readFileSync(VECTORS_FILE, 'utf8')).toBe(vectorsText());
});

it('contain enough valid and invalid requests', () => {
  const accepted = VECTORS.filter(({ expected }) => expected === 'verified');
  expect(accepted.length).toBeGreaterThan(20);
  expect(VECTORS.length - accepted.length).toBeGreaterThan(20);
  expect(new Set(VECTORS.map(({ name }) => name)).size).toBe(VECTORS.length);
});

function verifyVector({ secrets, now, request }: Vector) {
  const { method, url, headers, body } = request;
  const options = { now: now * 1_000 };
  return {
    plain: verify({ method, url, headers, body: Buffer.from(body, 'base64') }, secrets, options),
    /** The request as a Fetch-style server passes it. A GET has no body there. */
    fetched:
      method === 'GET'
        ? null
        : verify(
            new Request(`https://receiver.example${url}`, {
              method,
              headers,
              body: Buffer.from(body, 'base64'),
            }),
            secrets,
            options,
          ),
  };
}

/** A Fetch request escapes an invalid path, and removes a line break at the end of a header. */
function canBeFetched({ request }: Vector): boolean {
  return !request.url.includes(' ') && !Object.values(request.headers).some((value) => value.endsWith('\n'));
}

describe('verify', () => {
  it.each(VECTORS.map((vector) => [vector.name, vector.expected, vector] as const))(
    '%s: %s',
    async (_name, expected, vector) => {
      const { plain, fetched } = verifyVector(vector);
      const result = await plain;
      expect(result.ok ? 'verified' : result.reason).toBe(expected);
      if (result.ok) {
        expect(result).toEqual({
          ok: true,
          deliveryId: vector.request.headers['Sched-Delivery-Id'],
          attempt: Number(vector.request.headers['Sched-Attempt']),
          idempotencyKey: 'water-the-plants',
          timestamp: Number(vector.request.headers['Sched-Timestamp']),
          body: new Uint8Array(Buffer.from(vector.request.body, 'base64')),
        });
      }
      if (fetched !== null && canBeFetched(vector)) expect(await fetched).toEqual(result);
    },
  );
});
