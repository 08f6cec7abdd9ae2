/** Cases that the vectors do not cover: forms of a request, options, limits and messages. */
import { describe, expect, it } from 'vitest';
import { DELIVERY_ID, SECRET, type Signing, signedHeaders } from '../../../test/sdk/signing.ts';
import { type ReceivedRequest, verify } from './verify.ts';

const AT = 1_794_729_600;
const NOW = { now: AT * 1_000 };
const BODY = '{"n":1}';
const BODY_BYTES_MAX = 1_048_576;

function received(changes: Partial<ReceivedRequest> = {}, signing: Signing = {}): ReceivedRequest {
  const headers = signedHeaders({ body: BODY, timestamp: AT, ...signing });
  return { method: 'POST', url: '/hook', headers, body: BODY, ...changes };
}

async function outcome(...args: Parameters<typeof verify>): Promise<string> {
  const result = await verify(...args);
  return result.ok ? 'verified' : result.reason;
}

describe('a request can be given', () => {
  const bytes = Buffer.from(`..${BODY}..`).subarray(2, -2);
  it.each([
    ['with Headers', { headers: new Headers(signedHeaders({ body: BODY, timestamp: AT })) }],
    ['with names in lower case', { headers: lower(received().headers as Record<string, string>) }],
    ['with values in lists', { headers: lists(received().headers as Record<string, string>) }],
    ['with its whole URL', { url: 'https://user@receiver.example:8443/hook?a=/b#c' }],
    ['with a path and a query', { url: '/hook?a=1' }],
    ['with its method in lower case', { method: 'post' }],
    ['with a part of a larger buffer', { body: bytes }],
    ['with an ArrayBuffer', { body: new Uint8Array(bytes).buffer }],
  ] as const)('%s', async (_how, changes) => {
    expect(await verify(received(changes), SECRET, NOW)).toEqual({
      ok: true,
      deliveryId: DELIVERY_ID,
      attempt: 1,
      idempotencyKey: DELIVERY_ID,
      timestamp: AT,
      body: new Uint8Array(bytes),
    });
  });

  it.each([
    ['https://receiver.example', '/'],
    ['https://receiver.example?a=/b', '/'],
    ['//two/slashes', '//two/slashes'],
    ['/a?b#c?d', '/a'],
    ['/a#b', '/a'],
    ['/http://elsewhere/', '/http://elsewhere/'],
  ])('%s has the path %s', async (url, path) => {
    expect(await outcome(received({ url }, { path }), SECRET, NOW)).toBe('verified');
  });

  it('without a body', async () => {
    expect(await outcome(received({ body: null }, { body: '' }), SECRET, NOW)).toBe('verified');
  });

  it('as a Request, which can still be read afterwards', async () => {
    const headers = received().headers as Record<string, string>;
    const request = new Request('https://receiver.example/hook', { method: 'POST', headers, body: BODY });
    expect(await outcome(request, SECRET, NOW)).toBe('verified');
    expect(await request.json()).toEqual({ n: 1 });
    expect(await outcome(request, SECRET, NOW)).toBe('body_consumed');
  });

  it('but not with a parsed body', async () => {
    const parsed = { n: 1 } as unknown as string;
    expect(await verify(received({ body: parsed }), SECRET, NOW)).toMatchObject({
      reason: 'body_parsed',
      message: expect.stringContaining('raw bytes') as string,
    });
  });
});

describe('the option path', () => {
  const rewritten = received({ url: '/rewritten?a=1' }, { path: '/api/hook' });
  it.each([
    ['as a text', '/api/hook'],
    ['as a function of the path that arrived', (path: string) => path.replace('/rewritten', '/api/hook')],
  ])('%s', async (_how, path) => {
    expect(await outcome(rewritten, SECRET, { ...NOW, path })).toBe('verified');
    expect(await outcome(rewritten, SECRET, { ...NOW, path: '/api' })).toBe('no_signature_matches');
  });
});

describe('the tolerance', () => {
  it.each([
    [0, 0, 'verified'],
    [0, 1, 'timestamp_too_old'],
    [10, -11, 'timestamp_in_future'],
    [Number.POSITIVE_INFINITY, 1e9, 'verified'],
  ])('of %d s makes a request %d s later %s', async (toleranceSeconds, afterSeconds, expected) => {
    const now = (AT + afterSeconds) * 1_000;
    expect(await outcome(received(), SECRET, { now, toleranceSeconds })).toBe(expected);
  });

  it.each([
    [900, /too old by 600 s\. .* Either an old request was sent again, or a clock is wrong\.$/],
    [-900, /in the future by 600 s\. .* The sender's clock and this clock differ\./],
  ])('says why a request %d s later is refused', async (afterSeconds, message) => {
    const result = await verify(received(), SECRET, { now: (AT + afterSeconds) * 1_000 });
    expect(result).toHaveProperty('message', expect.stringMatching(message));
  });

  it.each([Number.NaN, -1, '300' as unknown as number])('cannot be %s', async (toleranceSeconds) => {
    await expect(verify(received(), SECRET, { ...NOW, toleranceSeconds })).rejects.toThrow(RangeError);
  });

  it('accepts nothing if the clock is not a number', async () => {
    expect(await outcome(received(), SECRET, { now: Number.NaN })).not.toBe('verified');
  });

  it('is 300 s by default, with the real clock', async () => {
    const now = Math.floor(Date.now() / 1_000);
    expect(await outcome(received({}, { timestamp: now - 290 }), SECRET)).toBe('verified');
    expect(await outcome(received({}, { timestamp: now - 310 }), SECRET)).toBe('timestamp_too_old');
  });

  it('appears in the message with both times', async () => {
    const result = await verify(received(), SECRET, { now: (AT + 412) * 1_000 });
    expect(result).toMatchObject({ reason: 'timestamp_too_old', bySeconds: 112 });
    expect(result).toHaveProperty('message', expect.stringMatching(/too old by 112 s.*08:00:00.*08:06:52/));
  });
});

describe('secrets', () => {
  it.each([[''], [' \n'], [[]], [['', '']], [undefined as unknown as string]])(
    'are missing if the secret is %j',
    async (secret) => {
      expect(await outcome(received({}, { secrets: [''] }), secret, NOW)).toBe('secret_missing');
    },
  );

  it('are used without empty ones', async () => {
    expect(await outcome(received(), ['', SECRET], NOW)).toBe('verified');
    expect(await outcome(received({}, { secrets: [''] }), ['', SECRET], NOW)).toBe('no_signature_matches');
  });

  it('can be at most eight', async () => {
    const others = Array.from({ length: 7 }, (_, i) => `whsec_${i}`);
    expect(await outcome(received(), [...others, SECRET], NOW)).toBe('verified');
    await expect(verify(received(), [...others, SECRET, SECRET], NOW)).rejects.toThrow(RangeError);
  });
});

describe('refused and limited input', () => {
  const right = signedHeaders({ body: BODY, timestamp: AT });

  it.each([
    ['Sched-Signature', `${right['Sched-Signature']},${'x'.repeat(8_192)}`],
    ['Sched-Delivery-Id', 'dlv_1.2'],
    ['Sched-Delivery-Id', 'x'.repeat(65)],
    ['Sched-Attempt', '0'],
    ['Sched-Attempt', '1.5'],
    ['Idempotency-Key', 'x'.repeat(513)],
    ['Idempotency-Key', 'caf\u00e9'],
  ])('%s', async (header, value) => {
    const result = await verify(received({ headers: { ...right, [header]: value } }), SECRET, NOW);
    expect(result).toMatchObject({ ok: false, reason: 'malformed_header', header });
  });

  it('a header that was sent twice is refused', async () => {
    const twice = { ...right, 'Sched-Attempt': ['1', '1'] };
    expect(await outcome(received({ headers: twice }), SECRET, NOW)).toBe('malformed_header');
    const inTwoSpellings = { ...right, 'sched-attempt': '1' };
    expect(await outcome(received({ headers: inTwoSpellings }), SECRET, NOW)).toBe('malformed_header');
  });

  it('a missing Idempotency-Key is refused', async () => {
    const { 'Idempotency-Key': _key, ...headers } = right;
    expect(await verify(received({ headers }), SECRET, NOW)).toMatchObject({ header: 'Idempotency-Key' });
  });

  it('the longest body of Sched is accepted, and one byte more is refused', async () => {
    const body = 'x'.repeat(BODY_BYTES_MAX);
    expect(await outcome(received({ body }, { body }), SECRET, NOW)).toBe('verified');
    const longer = `${body}x`;
    expect(await outcome(received({ body: longer }, { body: longer }), SECRET, NOW)).toBe('body_too_large');
  });

  it('reading an endless stream stops at the limit', async () => {
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    });
    const init = { method: 'POST', headers: right, body: endless, duplex: 'half' } as const;
    const request = new Request('https://receiver.example/hook', init);
    expect(await outcome(request, SECRET, NOW)).toBe('body_too_large');
  });
});

function lower(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function lists(headers: Record<string, string>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
}

describe('a mistake in JavaScript gets a sentence', () => {
  const FORM =
    'verify(request, secret) needs the request: a Request of Fetch, or { method, url, headers, body }.';
  it.each<readonly [string, readonly unknown[], string]>([
    ['no arguments', [], `${FORM} It got undefined.`],
    ['null', [null, SECRET], `${FORM} It got null.`],
    ['the body alone', [BODY, SECRET], `${FORM} It got a text.`],
    ['a promise', [Promise.resolve({}), SECRET], `${FORM} It got a promise (await it first).`],
    ['an empty object', [{}, SECRET], `${FORM} It got an object without method, url, headers.`],
    [
      'no headers',
      [{ method: 'POST', url: '/', body: '' }, SECRET],
      `${FORM} It got an object without headers.`,
    ],
    [
      'a secret of another type',
      [received(), 5],
      'The signing secret must be a text, or a list of texts. It got a number.',
    ],
    [
      'options of another type',
      [received(), SECRET, 300],
      'The options of verify are an object. It got a number.',
    ],
  ])('%s', async (_what, args, message) => {
    const call = verify(...(args as Parameters<typeof verify>));
    await expect(call).rejects.toThrow(new TypeError(message));
  });

  it('null for no options is accepted', async () => {
    const options = null as unknown as object;
    expect(await outcome(received(), '', options)).toBe('secret_missing');
  });
});
