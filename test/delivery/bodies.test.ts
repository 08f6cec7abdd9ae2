/** Method, path and body arrive unchanged at the receiver, and exactly they are signed. */
import { describe, expect, it } from 'vitest';
import { planted } from '#test/e2e/client.ts';
import { createdProfile } from '#test/e2e/expectations.ts';
import { answer } from '#test/receiver/behaviours.ts';
import { headerOf, type ReceivedRequest, valuesOf } from '#test/receiver/receiver.ts';
import { expectedSignature, signatureOf, verify } from '#test/receiver/verify.ts';
import { SIGNING_SECRET, useDeliveries } from './harness.ts';
import { waitForEnd } from './waits.ts';

const { api, hook, receiver, given } = useDeliveries();

const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'];

function expectVerified(request: ReceivedRequest): void {
  expect(verify(request, SIGNING_SECRET)).toBe('verified');
  expect(signatureOf(request)?.v1).toEqual([expectedSignature(request, SIGNING_SECRET)]);
}

describe.concurrent('methods', () => {
  it.each(METHODS)('%s with a body, GET and DELETE too', async (method) => {
    const target = hook();
    const body = planted(`body of ${method}`);
    const { pending } = await given({ endpoint: target.url, method, body });
    const request = await target.arrived();
    expect(request).toMatchObject({ method, body: Buffer.from(body) });
    expect(headerOf(request, 'Content-Length')).toBe(`${Buffer.byteLength(body)}`);
    expectVerified(request);
    expect((await waitForEnd(api, pending.id)).delivery.status).toBe('succeeded');
  });

  it.each(METHODS)('%s without a body', async (method) => {
    const target = hook();
    await given({ endpoint: target.url, method });
    const request = await target.arrived();
    expect(request).toMatchObject({ method, body: Buffer.alloc(0) });
    expect(['', '0']).toContain(valuesOf(request, 'Content-Length').join());
    expect(valuesOf(request, 'Transfer-Encoding')).toEqual([]);
    expectVerified(request);
  });

  it('the default is POST', async () => {
    const target = hook();
    await given({ endpoint: target.url });
    expect((await target.arrived()).method).toBe('POST');
  });

  it('a profile’s delivery uses the profile’s method', async () => {
    const target = hook();
    const { id } = await createdProfile(api, { url: target.url, method: 'PUT' });
    await given({ endpoint_id: id, body: planted('put') });
    expect(await target.arrived()).toMatchObject({ method: 'PUT', body: Buffer.from(planted('put')) });
  });
});

describe.concurrent('bodies arrive byte for byte', () => {
  it.each([
    ['empty', ''],
    ['a space', ' '],
    ['JSON with unusual spaces and escapes', '{ "a" : 1.0,\t"b":"\\u00fc" }\r\n'],
    ['beyond ASCII', 'Grüße, Ελλάδα, 日本語, 📨, \u0301'],
    ['control characters', 'a\u0000b\u0001c\u007f\u0085\u2028'],
    ['a byte order mark', '\ufefftext'],
    ['line ends of every kind', 'a\nb\r\nc\rd\n\n'],
    ['a text like the end of a request', '\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['periods, which separate the parts of the signed text', '.1.2.POST./.'],
    ['262,144 characters', 'x'.repeat(262_144)],
    ['262,144 characters of two bytes each', 'ü'.repeat(262_144)],
  ])('%s', async (_what, body) => {
    const target = hook();
    await given({ endpoint: target.url, body });
    const request = await target.arrived();
    expect(request.body.equals(Buffer.from(body))).toBe(true);
    expectVerified(request);
  });

  it('bodies are the same at every attempt', async () => {
    const target = hook(answer(503), answer(503), answer(200));
    const body = planted('the same');
    await given({ endpoint: target.url, body, retry_policy: { base: '30ms', factor: 1 } });
    await target.arrived(3);
    expect(target.requests.map(({ body }) => body.toString())).toEqual([body, body, body]);
    for (const request of target.requests) expectVerified(request);
  });
});

describe.concurrent('the path is sent as the URL has it, and signed without the query', () => {
  it.each([
    ['a query', '/sign/query', '?a=1&b=%2F&a=2', '/sign/query?a=1&b=%2F&a=2'],
    ['an empty query', '/sign/empty', '?', '/sign/empty?'],
    ['a question mark in the query', '/sign/twice', '?a=?&b', '/sign/twice?a=?&b'],
    ['percent escapes, unchanged', '/sign/a%20b%2fc%C3%BC', '', '/sign/a%20b%2fc%C3%BC'],
    ['all characters that a path may contain', "/sign/a;b=c,d@e:f!$&'()*+", '', "/sign/a;b=c,d@e:f!$&'()*+"],
    ['8,000 characters', `/sign/${'long'.repeat(1_998)}`, '', `/sign/${'long'.repeat(1_998)}`],
    ['two slashes', '/sign//double/', '', '/sign//double/'],
  ])('%s', async (_what, path, query, sent) => {
    const target = receiver().hookAt(path);
    await given({ endpoint: target.url + query, body: planted('x') });
    const request = await target.arrived();
    expect(request.path.replace(/\?$/, '')).toBe(sent.replace(/\?$/, ''));
    expectVerified(request);
  });

  it.each([
    ['beyond ASCII: escaped', '/sign/größe', '/sign/gr%C3%B6%C3%9Fe'],
    ['a space: escaped', '/sign/with space', '/sign/with%20space'],
    ['dots: resolved', '/sign/a/../b/./c', '/sign/b/c'],
    ['a fragment is not sent', '/sign/fragment#part', '/sign/fragment'],
  ])('%s', async (_what, written, sent) => {
    const target = receiver().hookAt(sent);
    await given({ endpoint: receiver().origin + written });
    const request = await target.arrived();
    expect(request.path).toBe(sent);
    expectVerified(request);
  });

  it('an empty path is sent as /', async () => {
    const target = receiver().hookAt('/');
    await given({ endpoint: receiver().origin });
    const request = await target.arrived();
    expect(request.path).toBe('/');
    expectVerified(request);
  });

  it('the query does not change the signed text', async () => {
    const target = hook();
    await given({ endpoint: `${target.url}?secret=1` });
    const request = await target.arrived();
    expect(verify({ ...request, path: target.path }, SIGNING_SECRET)).toBe('verified');
  });
});
