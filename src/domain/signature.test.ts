import { createHash, createSecretKey, type KeyObject } from 'node:crypto';
import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { METHODS } from './destination.ts';
import type { DeliveryId } from './id.ts';
import { type Signed, signatureHeader, standardSignatureHeader } from './signature.ts';
import { signingSecretText, standardWebhooksKey } from './signing-secret.ts';

const BLOCK_BYTES = 64;

/** Computes HMAC-SHA256 by RFC 2104, with nothing but the hash function. */
function hmac(key: Uint8Array, message: Uint8Array, encoding: 'hex' | 'base64' = 'hex'): string {
  const short = key.length > BLOCK_BYTES ? sha256(key) : key;
  const padded = Buffer.alloc(BLOCK_BYTES);
  padded.set(short);
  const inner = sha256(Buffer.concat([padded.map((byte) => byte ^ 0x36), message]));
  return Buffer.from(sha256(Buffer.concat([padded.map((byte) => byte ^ 0x5c), inner]))).toString(encoding);
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest();
}

/** Signs by the specification: `<timestamp>.<delivery_id>.<attempt>.<METHOD>.<path>.<body>`. */
function v1(secret: string, { timestamp, deliveryId, attemptNo, method, path, body }: Signed): string {
  const head = [String(timestamp), deliveryId, String(attemptNo), method, path, ''].join('.');
  return hmac(
    Buffer.from(secret, 'utf8'),
    Buffer.concat([Buffer.from(head, 'utf8'), body ?? Buffer.alloc(0)]),
  );
}

function keyOf(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret, 'utf8'));
}

const SECRET = 'whsec_Z3V0ZW4gVGFn';
const SIGNED: Signed = {
  timestamp: 1_794_729_600,
  deliveryId: 'dlv_01arz3ndektsv4rrffq69g5fav' as DeliveryId,
  attemptNo: 1,
  method: 'POST',
  path: '/hooks/a',
  body: Buffer.from('{"hello":"world"}'),
};

describe('the signature', () => {
  test('is the timestamp and the hex HMAC-SHA256 of the signed payload', () => {
    const header = signatureHeader(SIGNED, [keyOf(SECRET)]);
    expect(header).toBe(`t=1794729600,v1=${v1(SECRET, SIGNED)}`);
    expect(header).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  });

  test('has one part for each secret during a rotation, in their order', () => {
    const secrets = ['whsec_new', 'whsec_old', 'whsec_older'];
    const parts = secrets.map((secret) => `v1=${v1(secret, SIGNED)}`);
    expect(signatureHeader(SIGNED, secrets.map(keyOf))).toBe([`t=${SIGNED.timestamp}`, ...parts].join(','));
    expect(new Set(parts).size).toBe(3);
  });

  test.for([
    ['an empty body', Buffer.alloc(0)],
    ['no body', null],
    ['unicode', Buffer.from('{"grüße":"🙈 試験"}')],
    ['a lone period', Buffer.from('.')],
    ['line breaks as they are', Buffer.from('a\r\nb\n')],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0x00, 0xfe, 0x80])],
  ] as const)('covers the exact bytes of the body: %s', ([, body]) => {
    const signed = { ...SIGNED, body };
    expect(signatureHeader(signed, [keyOf(SECRET)])).toBe(`t=${SIGNED.timestamp},v1=${v1(SECRET, signed)}`);
  });

  test('without a body equals that of an empty body', () => {
    const signed = (body: Uint8Array | null) => signatureHeader({ ...SIGNED, body }, [keyOf(SECRET)]);
    expect(signed(null)).toBe(signed(Buffer.alloc(0)));
  });

  test('follows the specification for any content and secrets', () => {
    const signed = fc.record({
      timestamp: fc.integer({ min: 0, max: 253_402_300_799 }),
      deliveryId: fc.string({ minLength: 1 }).map((text) => `dlv_${text}` as DeliveryId),
      attemptNo: fc.integer({ min: 1, max: 50 }),
      method: fc.constantFrom(...METHODS),
      path: fc
        .tuple(fc.string(), fc.constantFrom('', '%20', 'ü', '🙈'))
        .map((parts) => `/${parts.join('/')}`),
      body: fc.option(fc.uint8Array({ maxLength: 300 })),
    });
    const secrets = fc.array(fc.string({ minLength: 1, maxLength: 120 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(signed, secrets, (given, texts) => {
        const parts = texts.map((text) => `,v1=${v1(text, given)}`);
        expect(signatureHeader(given, texts.map(keyOf))).toBe(`t=${given.timestamp}${parts.join('')}`);
      }),
    );
  });

  test('differs for every part that differs', () => {
    const others: readonly Signed[] = [
      SIGNED,
      { ...SIGNED, timestamp: SIGNED.timestamp + 1 },
      { ...SIGNED, deliveryId: 'dlv_2' as DeliveryId },
      { ...SIGNED, attemptNo: 2 },
      { ...SIGNED, method: 'PUT' },
      { ...SIGNED, path: '/hooks/b' },
      { ...SIGNED, body: Buffer.from('{"hello":"World"}') },
    ];
    const parts = others.map((signed) => signatureHeader(signed, [keyOf(SECRET)]).split(',')[1]);
    expect(new Set(parts).size).toBe(others.length);
  });
});

/** Signs by the standard: `<webhook-id>.<webhook-timestamp>.<body>`, with the decoded base64 of the secret. */
function standardV1(secret: string, { timestamp, deliveryId, body }: Signed): string {
  const signed = Buffer.concat([Buffer.from(`${deliveryId}.${timestamp}.`), body ?? Buffer.alloc(0)]);
  return `v1,${hmac(Buffer.from(secret.replace('whsec_', ''), 'base64'), signed, 'base64')}`;
}

function standardKeyOf(secret: string): KeyObject {
  const key = standardWebhooksKey(secret);
  if (key === null) throw new Error('It is not whsec_ and base64.');
  return createSecretKey(key);
}

describe('the signature of Standard Webhooks', () => {
  /** The vector of the standard's own libraries, which each of them tests. */
  const VECTOR = {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    deliveryId: 'msg_p5jXN8AQM9LWM0D4loKWxJek' as DeliveryId,
    timestamp: 1_614_265_330,
    body: Buffer.from('{"test": 2432232314}'),
    signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };

  test("is that of the standard's vector", () => {
    expect(standardSignatureHeader(VECTOR, [standardKeyOf(VECTOR.secret)])).toBe(VECTOR.signature);
  });

  test("is another one for any change of the standard's vector", () => {
    const key = standardKeyOf(VECTOR.secret);
    const changed = [
      { ...VECTOR, body: Buffer.from('{"test": 2432232315}') },
      { ...VECTOR, timestamp: VECTOR.timestamp + 1 },
      { ...VECTOR, deliveryId: 'msg_p5jXN8AQM9LWM0D4loKWxJel' as DeliveryId },
    ];
    for (const each of changed) expect(standardSignatureHeader(each, [key])).not.toBe(VECTOR.signature);
    const whole = createSecretKey(Buffer.from(VECTOR.secret));
    expect(standardSignatureHeader(VECTOR, [whole])).not.toBe(VECTOR.signature);
  });

  test("is that of the standard's library, for any body and secret", () => {
    const given = fc.record({
      key: fc.uint8Array({ minLength: 1, maxLength: 100 }),
      timestamp: fc.integer({ min: 0, max: 8_640_000_000_000 }),
      body: fc.string({ unit: 'binary' }),
    });
    fc.assert(
      fc.property(given, ({ key, timestamp, body }) => {
        const secret = signingSecretText(key);
        const library = new Webhook(secret).sign(VECTOR.deliveryId, new Date(timestamp * 1_000), body);
        const signed = { ...VECTOR, timestamp, body: Buffer.from(body, 'utf8') };
        expect(standardSignatureHeader(signed, [standardKeyOf(secret)])).toBe(library);
      }),
    );
  });

  test('has one part for each secret during a rotation, in their order, separated by a space', () => {
    const secrets = ['whsec_bmV3', VECTOR.secret, 'whsec_b2xk'];
    const header = standardSignatureHeader(SIGNED, secrets.map(standardKeyOf));
    expect(header).toBe(secrets.map((secret) => standardV1(secret, SIGNED)).join(' '));
    expect(header).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
  });

  test.for([
    ['no body', null],
    ['an empty body', Buffer.alloc(0)],
    ['unicode', Buffer.from('{"grüße":"🙈 試験"}')],
    ['a lone period', Buffer.from('.')],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0x00, 0xfe, 0x80])],
  ] as const)('covers the exact bytes of the body: %s', ([, body]) => {
    const signed = { ...SIGNED, body };
    expect(standardSignatureHeader(signed, [standardKeyOf(SECRET)])).toBe(standardV1(SECRET, signed));
  });
});
