/** Other tests rely on the receiver, so it is tested first, with an independent client. */
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  answer,
  answerAfterInformational,
  answerUnread,
  bytes,
  closeUnanswered,
  delayed,
  endlessBody,
  hang,
  held,
  hugeHeaders,
  redirect,
  reset,
} from './behaviours.ts';
import { CA_FILE, headerOf, type Receiver, startReceiver, valuesOf } from './receiver.ts';

const ca = readFileSync(CA_FILE);
const agent = new Agent({ keepAlive: true, ca });
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  agent.destroy();
  await receiver[Symbol.asyncDispose]();
});

interface Sending {
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  /** Whether the connection is kept for the next request. */
  readonly keepsAlive?: boolean;
}

/** Resolves to the status or the error code. */
function send(url: string, { method = 'POST', headers = [], body = '', keepsAlive = false }: Sending = {}) {
  const { promise, resolve } = Promise.withResolvers<number | string | undefined>();
  const { protocol, host } = new URL(url);
  const length = ['Content-Length', `${Buffer.byteLength(body)}`];
  const options = { method, headers: ['Host', host, ...length, ...headers], timeout: 300 };
  const send = protocol === 'https:' ? httpsRequest : httpRequest;
  const sent = send(
    url,
    { ...options, agent: protocol === 'https:' && keepsAlive ? agent : false, ca },
    (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    },
  );
  sent.on('timeout', () => sent.destroy(Object.assign(new Error('time-out'), { code: 'TIME-OUT' })));
  sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  sent.end(body);
  return promise;
}

describe('the receiver records', () => {
  it('the method, path with query, headers as sent, exact bytes and time of a request', async () => {
    const hook = receiver.hook();
    const before = Date.now();
    const body = 'Grüße \u{1f4e8}\u0000\r\n';
    const headers = ['x-B', '1', 'X-a', 'two', 'X-B', '3'];
    expect(await send(`${hook.url}?a=%2F&b`, { method: 'PATCH', headers, body })).toBe(200);
    const [request] = hook.requests;
    expect(request).toMatchObject({ method: 'PATCH', path: `${hook.path}?a=%2F&b`, body: Buffer.from(body) });
    expect(request?.headers.slice(2, 5)).toEqual([
      ['x-B', '1'],
      ['X-a', 'two'],
      ['X-B', '3'],
    ]);
    expect(request?.arrivedAt).toBeGreaterThanOrEqual(before);
    expect(request?.arrivedAt).toBeLessThanOrEqual(Date.now());
  });

  it('repeated headers, and `headerOf` refuses them', async () => {
    const hook = receiver.hook();
    await send(hook.url, { headers: ['X-Twice', '1', 'x-twice', '2', 'X-Once', '3'] });
    const request = await hook.arrived();
    expect(valuesOf(request, 'x-TWICE')).toEqual(['1', '2']);
    expect(headerOf(request, 'x-once')).toBe('3');
    expect(() => headerOf(request, 'x-twice')).toThrow('2 times');
    expect(() => headerOf(request, 'x-none')).toThrow('0 times');
  });

  it('GET and DELETE with a body', async () => {
    const hook = receiver.hook();
    for (const method of ['GET', 'DELETE']) await send(hook.url, { method, body: method });
    expect(hook.requests.map(({ body }) => body.toString())).toEqual(['GET', 'DELETE']);
  });

  it('the number of the connection, which requests on a kept connection share', async () => {
    const hook = receiver.hook(answer(200), answer(200, { closes: true }), answer(200));
    const before = receiver.connections;
    for (let i = 0; i < 3; i++) await send(hook.url, { keepsAlive: true });
    const [first, second, third] = hook.requests.map(({ connection }) => connection);
    expect(second).toBe(first);
    expect(third).toBeGreaterThan(second ?? 0);
    expect(receiver.connections - before).toBeGreaterThanOrEqual(1);
  });

  it('arrivals, and resolves the promises that wait for them', async () => {
    const hook = receiver.hook();
    const third = hook.arrived(3);
    const first = hook.arrived();
    for (let i = 0; i < 3; i++) await send(`${hook.url}?${i}`);
    expect((await first).path).toBe(`${hook.path}?0`);
    expect((await third).path).toBe(`${hook.path}?2`);
  });

  it('requests without a hook as unmatched, and answers 404', async () => {
    expect(await send(`${receiver.origin}/unmatched`)).toBe(404);
    expect(receiver.unmatched.map(({ path }) => path)).toEqual(['/unmatched']);
  });
});

describe('behaviours', () => {
  it('are used in order, and the last one is repeated', async () => {
    const hook = receiver.hook(answer(500), redirect(302, '/x'), answer(204));
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push(await send(hook.url));
    expect(statuses).toEqual([500, 302, 204, 204]);
    hook.behave(answer(201));
    expect(await send(hook.url)).toBe(201);
  });

  it.each([
    ['informational answers and then the final one', () => answerAfterInformational(200), 200],
    ['a delay', () => delayed(20, answer(202)), 202],
    ['an answer before the body was read', () => answerUnread(413), 413],
    ['an answer and then an unannounced close', () => answer(200, { closes: 'silently' }), 200],
    ['no answer', () => hang(), 'TIME-OUT'],
    ['a reset before reading', () => reset('before reading'), 'ECONNRESET'],
    ['a reset after reading', () => reset('after reading'), 'ECONNRESET'],
    ['a close without an answer', () => closeUnanswered(), 'ECONNRESET'],
    ['bytes that are not HTTP', () => bytes('SSH-2.0-OpenSSH\r\n'), 'HPE_INVALID_CONSTANT'],
    ['a body that breaks off', () => bytes('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'), 'ECONNRESET'],
    ['a head that is too large', () => hugeHeaders(200, 100_000), 'HPE_HEADER_OVERFLOW'],
  ])('%s', async (_what, behaviour, outcome) => {
    const hook = receiver.hook(behaviour());
    expect(await send(hook.url, { body: 'x'.repeat(100) })).toBe(outcome);
    expect(hook.requests).toHaveLength(1);
  });

  it('include a held answer, which is sent when it is released', async () => {
    const gate = held(answer(201));
    const hook = receiver.hook(gate);
    const answered = send(hook.url);
    await hook.arrived();
    gate.release();
    expect(await answered).toBe(201);
  });

  it('include an endless body, which ends when the client disconnects', async () => {
    const endless = endlessBody(200);
    const hook = receiver.hook(endless);
    const sent = httpsRequest(hook.url, { agent: false, ca }, (response) => {
      let bytesRead = 0;
      response.on('data', (chunk: Buffer) => {
        bytesRead += chunk.length;
        if (bytesRead > 100_000) sent.destroy();
      });
      response.on('error', () => {});
    });
    sent.on('error', () => {});
    sent.end();
    await endless.closed;
    expect(endless.bytesWritten).toBeGreaterThan(100_000);
  });
});

describe('addresses and certificates', () => {
  it.each([
    ['https on 127.0.0.1', {}, 200],
    ['https on ::1', { host: '::1' as const }, 200],
    ['http', { scheme: 'http' as const }, 200],
    ['an expired certificate', { identity: 'expired' as const }, 'CERT_HAS_EXPIRED'],
    ['a certificate of another name', { identity: 'other-name' as const }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [
      'a certificate of an unknown authority',
      { identity: 'untrusted' as const },
      expect.stringMatching(/UNABLE|SELF/),
    ],
  ])('%s', async (_what, options, outcome) => {
    await using other = await startReceiver(options);
    const hook = other.hook();
    expect(await send(hook.url)).toEqual(outcome);
    expect(hook.requests).toHaveLength(outcome === 200 ? 1 : 0);
    expect(other.connections).toBe(1);
  });
});
