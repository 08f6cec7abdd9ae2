/** Each common mistake gets its reason, and no reason helps a forger. */
import { describe, expect, it, vi } from 'vitest';
import { SECRET, type Signing, signedHeaders } from '../../../test/sdk/signing.ts';
import { VECTORS } from '../../../test/sdk/vectors.ts';
import { HASHED_BYTES_MAX } from './diagnosis.ts';
import { type NotVerified, type ReceivedRequest, verify } from './verify.ts';

const AT = 1_794_729_600;
const VALUE = { text: 'Grüße/📨', n: [1, 2], s: 'a, "b": c' };
const COMPACT = JSON.stringify(VALUE);

interface Mistake extends Partial<ReceivedRequest> {
  readonly secret?: string | readonly string[];
  readonly more?: Readonly<Record<string, string>>;
}

async function refusal(signing: Signing, mistake: Mistake): Promise<NotVerified> {
  const { secret = SECRET, more, ...changes } = mistake;
  const { path = '/hook', body = '', method = 'POST' } = signing;
  const headers = { ...signedHeaders({ timestamp: AT, ...signing }), ...more };
  const result = await verify({ method, url: path, headers, body, ...changes }, secret, { now: AT * 1_000 });
  if (result.ok) throw new Error('It was verified.');
  return result;
}

const ASCII = '{"text":"Gr\\u00fc\\u00dfe/\\ud83d\\udce8","n":[1,2],"s":"a, \\"b\\": c"}';
const PYTHON = '{"text": "Gr\\u00fc\\u00dfe/\\ud83d\\udce8", "n": [1, 2], "s": "a, \\"b\\": c"}';

describe('a body that differs from the sent one', () => {
  it.each([
    ['compact JSON', COMPACT, JSON.stringify(VALUE, null, 2)],
    ['indented by two spaces', JSON.stringify(VALUE, null, 2), COMPACT],
    ['indented by four spaces', JSON.stringify(VALUE, null, 4), COMPACT],
    ['indented by tabs', JSON.stringify(VALUE, null, '\t'), COMPACT],
    ['spaces after commas and colons', '{"a": [1, 2], "b": "c,d:e"}', '{"a":[1,2],"b":"c,d:e"}'],
    ['spaces, and escapes beyond ASCII', PYTHON, COMPACT],
    ['compact JSON with escapes beyond ASCII', ASCII, COMPACT],
    ['escaped slashes', ASCII.replace('/', '\\/'), COMPACT],
    ['and a line break at its end', `${JSON.stringify(VALUE, null, 2)}\n`, COMPACT],
    ['a line break at its end', 'text\n', 'text'],
    ['CR and LF at its end', 'text\r\n', 'text'],
    ['without the white space around it', 'text', ' text\n'],
    ['CR LF for its line breaks', 'a\r\nb\r\n', 'a\nb\n'],
    ['LF for its line breaks', 'a\nb', 'a\r\nb'],
    ['with a byte order mark', '\ufefftext', 'text'],
    ['without its byte order mark', 'text', '\ufefftext'],
    ['encoded as Latin-1', Buffer.from('Grüße', 'latin1'), 'Grüße'],
  ])('%s', async (matched, body, given) => {
    const result = await refusal({ body }, { body: given });
    expect(result.reason).toBe('body_reserialised');
    expect(result).toHaveProperty('matched', expect.stringContaining(matched));
    expect(result.message).toContain('raw bytes');
  });

  it('with another length than Content-Length gets a hint', async () => {
    const body = '{"b":1.0,"a":2}';
    const more = { 'Content-Length': `${body.length}` };
    const result = await refusal({ body }, { body: '{"a":2,"b":1}', more });
    expect(result.reason).toBe('no_signature_matches');
    expect(result).not.toHaveProperty('matched');
    expect(result.message).toContain('The body has 13 bytes, but Content-Length says 15');
  });

  it.each([{}, { 'Content-Length': '13' }, { 'Content-Length': '13, 15' }])(
    'gets no hint with the headers %j',
    async (more) => {
      const result = await refusal({ body: '{"b":1.0,"a":2}' }, { body: '{"a":2,"b":1}', more });
      expect(result.message).not.toContain('Content-Length');
    },
  );

  it('that was not read is recognised', async () => {
    const result = await refusal({ body: COMPACT }, { body: null, more: { 'Content-Length': '60' } });
    expect(result).toMatchObject({ reason: 'body_not_read' });
  });
});

describe('a path or method that differs from the signed one', () => {
  it.each([
    ['together with the query', '/hook?a=1', { url: '/hook?a=1' }],
    ['decoded', '/a b', { url: '/a%20b' }],
    ['as a URL parser writes it', '/gr%C3%B6%C3%9Fe', { url: '/größe' }],
    ['without the slash at its end', '/hook', { url: '/hook/' }],
    ['with a slash at its end', '/hook/', { url: '/hook' }],
    ['without its first segment', '/hook', { url: '/internal/hook' }],
    ['without its first 4 segments', '/hook', { url: '/a/b/c/d/hook' }],
    [
      'in the header X-Original-URI',
      '/api/hook',
      { url: '/hook', more: { 'X-Original-URI': '/api/hook?a=1' } },
    ],
    ['X-Forwarded-Prefix in front', '/api/hook', { url: '/hook', more: { 'X-Forwarded-Prefix': '/api' } }],
  ])('%s', async (matched, path, mistake: Mistake) => {
    const result = await refusal({ path }, mistake);
    expect(result.reason).toBe('path_differs');
    expect(result).toHaveProperty('matched', expect.stringContaining(matched));
  });

  it('is recognised for the method', async () => {
    const result = await refusal({ method: 'PATCH' }, { method: 'POST' });
    expect(result).toMatchObject({ reason: 'method_differs', matched: 'the method PATCH, not POST' });
  });
});

describe('a secret that differs from the signing one', () => {
  it.each([
    ['secret_padded', `${SECRET}\n`],
    ['secret_padded', ` ${SECRET}`],
    ['secret_padded', `"${SECRET}"`],
    ['secret_padded', `${SECRET}\\n`],
    ['secret_without_prefix', SECRET.slice(6)],
  ])('%s: %j', async (reason, secret) => {
    expect(await refusal({}, { secret })).toMatchObject({ reason });
  });

  it('secret_decoded', async () => {
    const decoded = Buffer.from(SECRET.slice(6), 'base64').toString();
    expect(await refusal({ secrets: [decoded] }, {})).toMatchObject({ reason: 'secret_decoded' });
  });
});

describe('an API key instead of the signing secret', () => {
  it.each([
    [
      'alone',
      'sk_test_0123456789abcdef',
      /^The signature was not made with the secret\. The secret is an API key \(sk_test_…\)/,
    ],
    [
      'in quotation marks',
      '"sk_live_0123456789abcdef"',
      /The secret is an API key .* "sched secret show --mode live"/,
    ],
    [
      'beside another secret',
      ['whsec_other', 'sk_test_0123456789abcdef'],
      /One of the secrets is an API key/,
    ],
  ])('is recognised %s, and not shown', async (_how, secret, message) => {
    const result = await refusal({}, { secret });
    expect(result.reason).toBe('no_signature_matches');
    expect(result.message).toMatch(message);
    expect(result.message).not.toContain('0123');
  });

  it('does no harm beside the right secret with another mistake', async () => {
    const result = await refusal({ body: 'text\n' }, { secret: ['sk_test_x', SECRET], body: 'text' });
    expect(result.reason).toBe('body_reserialised');
  });
});

describe('the diagnosis is bounded', () => {
  it('no guesses are made for a body of more than 64 KiB', async () => {
    const body = 'x'.repeat(65_536);
    expect(await refusal({ body: `${body}\n` }, { body })).toMatchObject({ reason: 'body_reserialised' });
    const result = await refusal({ body: `${body}x\n` }, { body: `${body}x` });
    expect(result).toMatchObject({ reason: 'no_signature_matches' });
    expect(result.message).toContain('too long');
  });

  const ones = `1${',1'.repeat(32_000)}`;
  const eight = Array.from({ length: 8 }, (_, i) => `whsec_${i}`);
  it.each([
    ['deep and wide', `${'['.repeat(500)}${ones}${']'.repeat(500)}`, 'tried out and'],
    ['at the maximum depth, and wide', `${'['.repeat(32)}${ones}${']'.repeat(32)}`, 'too long'],
    ['flat', `[${ones}]`, 'too long'],
    ['of long numbers', `[1e20${',1e20'.repeat(13_000)}]`, 'too long'],
    ['of escaped characters', `"${'ü/'.repeat(21_000)}"`, 'too long'],
    ['not JSON', '\n'.repeat(65_536), 'tried out and'],
  ])('the number of hashed bytes is limited for a body that is %s', async (_shape, body, message) => {
    const sign = vi.spyOn(crypto.subtle, 'sign');
    const result = await refusal({}, { body, secret: eight });
    const hashed = sign.mock.calls.slice(eight.length).map(([, , bytes]) => bytes.byteLength);
    sign.mockRestore();
    expect(result).toMatchObject({ reason: 'no_signature_matches' });
    expect(result.message).toContain(message);
    expect(hashed.length).toBeGreaterThan(0);
    expect(hashed.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(HASHED_BYTES_MAX);
  });

  it('the limit is enough for the last guess at the longest body', async () => {
    const given = JSON.stringify(
      Array.from({ length: 1_630 }, () => ({ url: 'https://example.com/a/b/c/d/e' })),
    );
    expect(65_536 - given.length).toBeLessThan(1_000);
    const result = await refusal({ body: `${given.replaceAll('/', '\\/')}\n` }, { body: given });
    expect(result).toHaveProperty('matched', expect.stringMatching(/escaped slashes and a line break/));
  });

  it('deeply nested JSON is not written again', async () => {
    const body = '['.repeat(30_000) + ']'.repeat(30_000);
    expect(await refusal({ body: `${body}\n` }, { body })).toMatchObject({ reason: 'body_reserialised' });
    expect(await refusal({}, { body })).toMatchObject({ reason: 'no_signature_matches' });
  });

  it('the diagnosis can be switched off', async () => {
    const headers = signedHeaders({ timestamp: AT, body: 'text\n' });
    const request = { method: 'POST', url: '/hook', headers, body: 'text' };
    const result = await verify(request, SECRET, { now: AT * 1_000, diagnose: false });
    expect(result).toMatchObject({ reason: 'no_signature_matches' });
  });
});

it('no result contains a secret, a body or a signature', async () => {
  for (const { secrets, now, request, expected } of VECTORS) {
    const body = Buffer.from(request.body, 'base64');
    const result = await verify({ ...request, body }, secrets, { now: now * 1_000 });
    if (result.ok) continue;
    const text = JSON.stringify(result);
    const hidden = [...secrets, ...secrets.map((each) => each.trim().replace('whsec_', '')), body.toString()];
    expect(hidden.filter((each) => each.trim() !== '' && text.includes(each))).toEqual([]);
    expect(text).not.toMatch(/[0-9a-f]{16}/i);
    expect(result.message.length).toBeGreaterThan(expected.length);
  }
});
