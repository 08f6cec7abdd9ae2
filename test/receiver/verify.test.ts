/** Tests the verifier with a signature made by openssl, and with many wrong ones. */
import { describe, expect, it } from 'vitest';
import type { ReceivedRequest } from './receiver.ts';
import { signatureOf, verify } from './verify.ts';

const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSB2ZXJpZmllcg==';
const AT = 1_794_729_600;
/** printf '1794729600.dlv_1.2.POST./hooks/caf%%C3%%A9.{"n":1}' | openssl dgst -sha256 -hmac "$SECRET" */
const BY_OPENSSL = '17b592223aa63b40f8defd35aeb8bd80c7796346392ddc3ce9f063ed0c000d7a';

function received(
  changes: Partial<ReceivedRequest> = {},
  headers: Record<string, string> = {},
): ReceivedRequest {
  const all = {
    'Sched-Delivery-Id': 'dlv_1',
    'Sched-Attempt': '2',
    'Sched-Timestamp': `${AT}`,
    'Sched-Signature': `t=${AT},v1=${BY_OPENSSL}`,
    ...headers,
  };
  return {
    connection: 1,
    arrivedAt: AT * 1_000,
    arrivedAtNs: 0n,
    method: 'POST',
    path: '/hooks/caf%C3%A9?query=is-not-signed',
    headers: Object.entries(all),
    isComplete: true,
    body: Buffer.from('{"n":1}'),
    ...changes,
  };
}

it('a signature that openssl made is verified', () => {
  expect(verify(received(), SECRET)).toBe('verified');
});

const OTHER = '0'.repeat(64);

describe('one matching v1 is enough', () => {
  it.each([
    ['the first', `t=${AT},v1=${BY_OPENSSL},v1=${OTHER}`],
    ['the last', `t=${AT},v1=${OTHER},v1=${OTHER},v1=${BY_OPENSSL}`],
  ])('%s', (_what, signature) => {
    expect(verify(received({}, { 'Sched-Signature': signature }), SECRET)).toBe('verified');
  });

  it('all of them are read in order', () => {
    const request = received({}, { 'Sched-Signature': `t=1,v1=${OTHER},v1=${BY_OPENSSL}` });
    expect(signatureOf(request)).toEqual({ timestamp: '1', v1: [OTHER, BY_OPENSSL] });
  });
});

describe('a change is detected in', () => {
  it.each([
    ['the secret', received(), `${SECRET}x`],
    ['the delivery id', received({}, { 'Sched-Delivery-Id': 'dlv_2' }), SECRET],
    ['the attempt', received({}, { 'Sched-Attempt': '3' }), SECRET],
    ['the method', received({ method: 'PUT' }), SECRET],
    ['the path', received({ path: '/hooks/caf%c3%a9' }), SECRET],
    ['a byte of the body', received({ body: Buffer.from('{"n":2}') }), SECRET],
    ['no body', received({ body: Buffer.alloc(0) }), SECRET],
    ['another signature', received({}, { 'Sched-Signature': `t=${AT},v1=${OTHER}` }), SECRET],
  ])('%s', (_what, request, secret) => {
    expect(verify(request, secret)).toBe('no signature matches');
  });

  it.each([
    ['t and Sched-Timestamp disagree', { 'Sched-Timestamp': `${AT + 1}` }, 'another timestamp'],
    ['no t', { 'Sched-Signature': `v1=${BY_OPENSSL}` }, 'malformed'],
    ['no v1', { 'Sched-Signature': `t=${AT}` }, 'malformed'],
    ['hex in capitals', { 'Sched-Signature': `t=${AT},v1=${BY_OPENSSL.toUpperCase()}` }, 'malformed'],
    ['spaces', { 'Sched-Signature': `t=${AT}, v1=${BY_OPENSSL}` }, 'malformed'],
    ['a delivery id with a period', { 'Sched-Delivery-Id': 'dlv_1.2' }, 'malformed'],
    ['an attempt with a period', { 'Sched-Attempt': '2.POST' }, 'malformed'],
    ['an attempt of 0', { 'Sched-Attempt': '0' }, 'malformed'],
  ])('%s', (_what, headers: Record<string, string>, verdict) => {
    expect(verify(received({}, headers), SECRET)).toBe(verdict);
  });

  it.each([-301, 301])('a timestamp %i s away', (seconds) => {
    expect(verify(received(), SECRET, (AT + seconds) * 1_000)).toBe('too old');
    expect(verify(received(), SECRET, (AT + Math.sign(seconds) * 300) * 1_000)).toBe('verified');
  });
});
