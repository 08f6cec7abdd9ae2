/** The behaviour of a destination, and the resulting outcome of the attempt and its delivery. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createdProfile, ms, schedule } from '#test/e2e/expectations.ts';
import {
  answer,
  answerAfterInformational,
  answerUnread,
  type Behaviour,
  bytes,
  closeUnanswered,
  delayed,
  endlessBody,
  endlessInformational,
  hang,
  hugeHeaders,
  redirect,
  reset,
} from '#test/receiver/behaviours.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { useDeliveries } from './harness.ts';
import { waitForEnd, waitForStatus } from './waits.ts';

const { api, hook, given, addReceiver: alsoReceiver } = useDeliveries();
const expired = alsoReceiver({ identity: 'expired' });
const otherName = alsoReceiver({ identity: 'other-name' });
const untrusted = alsoReceiver({ identity: 'untrusted' });
const closing = alsoReceiver({});
const talkative = alsoReceiver({});

const ONCE = { retry_policy: { max_attempts: 1 } };
/** A retry this late never comes during a test. */
const RETRY_IN_AN_HOUR = { retry_policy: { base: '1h' } };

describe.concurrent('HTTP 2xx: succeeded', () => {
  it.each([200, 201, 202, 203, 204, 205, 206, 226, 299])('%i', async (status) => {
    const target = hook(answer(status));
    const { id, pending } = await given({ endpoint: target.url });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'succeeded', last_status_code: status, error: null });
    expect(attempts).toMatchObject([{ outcome: 'success', status_code: status, error: null }]);
    expect((await schedule(api, id)).state).toBe('completed');
  });

  it('after informational answers the final one counts', async () => {
    const { pending } = await given({ endpoint: hook(answerAfterInformational(201)).url });
    expect((await waitForEnd(api, pending.id)).delivery).toMatchObject({
      status: 'succeeded',
      last_status_code: 201,
    });
  });

  it('an answer that takes a while', async () => {
    const { pending } = await given({ endpoint: hook(delayed(400, answer(200))).url });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery.status).toBe('succeeded');
    expect(attempts[0]?.egress_ms).toBeGreaterThanOrEqual(399);
  });
});

describe.concurrent('HTTP 3xx: terminal, dead_letter, and never followed', () => {
  it.each([300, 301, 302, 303, 304, 305, 307, 308, 399])('%i', async (status) => {
    const elsewhere = hook();
    const target = hook(redirect(status, elsewhere.url), answer(200));
    const { id, pending } = await given({ endpoint: target.url, retry_policy: { base: '0' } });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'dead_letter', last_status_code: status, attempt_count: 1 });
    expect(attempts).toMatchObject([
      { outcome: 'terminal', status_code: status, error: expect.stringContaining(`${status}`) },
    ]);
    expect((await schedule(api, id)).state).toBe('completed');
    expect(target.requests).toHaveLength(1);
    expect(elsewhere.requests).toEqual([]);
  });
});

describe.concurrent('any other answer: retryable', () => {
  it.each([
    400, 401, 403, 404, 405, 408, 409, 410, 413, 418, 422, 425, 429, 451, 499, 500, 501, 502, 503, 504, 599,
  ])('%i', async (status) => {
    const target = hook(answer(status));
    const { id, pending } = await given({ endpoint: target.url, ...RETRY_IN_AN_HOUR });
    await target.arrived();
    const waiting = await waitForStatus(api, pending.id, 'retry_scheduled');
    expect(waiting).toMatchObject({
      last_status_code: status,
      attempt_count: 1,
      finalized_at: null,
      error: expect.stringContaining(`${status}`),
    });
    expect((await schedule(api, id)).state).toBe('active');
  });

  it('413 before the body was read', async () => {
    const target = hook(answerUnread(413));
    const { pending } = await given({ endpoint: target.url, body: 'x'.repeat(262_144), ...ONCE });
    const { delivery } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'dead_letter', last_status_code: 413 });
  });

  it('Retry-After does not change the backoff', async () => {
    const target = hook(answer(503, { headers: { 'retry-after': '60' } }), answer(200));
    const { pending } = await given({ endpoint: target.url, retry_policy: { base: '50ms', factor: 1 } });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery.status).toBe('succeeded');
    expect(ms(attempts[1]?.due_at) - ms(attempts[0]?.finished_at)).toBe(50);
  });
});

interface Failure {
  readonly delivery: { readonly error: string | null };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

/** One attempt without an answer: retryable, with no status code and an error. */
async function expectUnanswered(endpoint: string): Promise<Failure> {
  const { pending } = await given({ endpoint, ...ONCE, body: 'x'.repeat(100) });
  const { delivery, attempts } = await waitForEnd(api, pending.id);
  expect(delivery).toMatchObject({ status: 'dead_letter', last_status_code: null, attempt_count: 1 });
  expect(attempts).toMatchObject([
    { outcome: 'retryable', status_code: null, error: expect.stringMatching(/\S/) },
  ]);
  expect(delivery.error).toBe(attempts[0]?.error);
  return { delivery };
}

describe.concurrent('no answer: retryable', () => {
  const failures: readonly (readonly [string, () => Behaviour])[] = [
    ['a reset before the request is read', () => reset('before reading')],
    ['a reset after the request is read', () => reset('after reading')],
    ['a close without an answer', () => closeUnanswered()],
    ['an answer that is not HTTP', () => bytes('SSH-2.0-OpenSSH_9.9\r\n')],
    ['half a head', () => bytes('HTTP/1.1 200 OK\r\nX-Half')],
    ['a close after an informational answer', () => bytes('HTTP/1.1 100 Continue\r\n\r\n')],
  ];
  it.each(failures)('%s', async (_what, behaviour) => {
    await expectUnanswered(hook(behaviour()).url);
  });

  it('an unrequested switch of protocols', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const { pending } = await given({ endpoint: hook(bytes(head)).url, ...ONCE });
    const { attempts } = await waitForEnd(api, pending.id);
    expect(attempts).toMatchObject([{ outcome: 'retryable' }]);
  });

  it('a refused connection', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = portOf(server);
    server.close();
    await expectUnanswered(`https://127.0.0.1:${port}/refused`);
  });

  it('a server that does not speak TLS', async () => {
    await using plain = await startReceiver({ scheme: 'http' });
    await expectUnanswered(`https://127.0.0.1:${plain.port}/no-tls`);
    expect(plain.requests).toEqual([]);
  });

  it('a server that requires TLS behind an http URL', async () => {
    await using secure = await startReceiver();
    const target = secure.hookAt('/no-http');
    await expectUnanswered(target.url.replace('https:', 'http:'));
    expect(target.requests).toEqual([]);
  });

  it('a name that does not resolve', async () => {
    await expectUnanswered('https://nosuch.invalid/hook');
  });

  it('after a failure the next attempt uses a new connection', async () => {
    const target = hook(reset('after reading'), closeUnanswered(), answer(200));
    const { pending } = await given({ endpoint: target.url, retry_policy: { base: '30ms', factor: 1 } });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'succeeded', attempt_count: 3 });
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['retryable', 'retryable', 'success']);
    expect(new Set(target.requests.map(({ connection }) => connection)).size).toBe(3);
  });
});

describe.concurrent('an invalid certificate: retryable, and no byte of the request is sent', () => {
  it.each([
    ['expired', expired],
    ['of another name', otherName],
    ['of an unknown authority', untrusted],
  ])('%s', async (_what, receiver) => {
    const target = receiver().hook();
    await expectUnanswered(target.url);
    expect(target.requests).toEqual([]);
    expect(receiver().connections).toBeGreaterThanOrEqual(1);
  });
});

describe.concurrent('timeouts', () => {
  it('the profile’s timeout: retryable, and not before it has passed', async () => {
    const hung = hang();
    const target = hook(hung, answer(200));
    const { id } = await createdProfile(api, { url: target.url, timeout: '2s' });
    const { pending } = await given({ endpoint_id: id, retry_policy: { base: '20ms', factor: 1 } });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery.status).toBe('succeeded');
    const [first] = attempts;
    expect(first).toMatchObject({
      outcome: 'retryable',
      status_code: null,
      error: expect.stringMatching(/time/i),
    });
    expect(first?.egress_ms).toBeGreaterThanOrEqual(2_000);
    expect(first?.egress_ms).toBeLessThan(20_000);
    await hung.closed;
  });

  it('an endless head is no answer', async () => {
    const target = hook(bytes('HTTP/1.1 200 OK\r\nX-A: b\r\n', 'stay'));
    const { id } = await createdProfile(api, { url: target.url, timeout: '300ms' });
    const { pending } = await given({ endpoint_id: id, ...ONCE });
    const { attempts } = await waitForEnd(api, pending.id);
    expect(attempts).toMatchObject([{ outcome: 'retryable', status_code: null }]);
  });

  it('endless informational answers are no answer', async () => {
    const endless = endlessInformational();
    const destination = hook(endless);
    const { id } = await createdProfile(api, { url: destination.url, timeout: '500ms' });
    const { pending } = await given({ endpoint_id: id, ...ONCE });
    const { attempts } = await waitForEnd(api, pending.id);
    expect(attempts).toMatchObject([{ outcome: 'retryable', status_code: null }]);
    // On a very busy machine the request may not have arrived within its time.
    if (destination.requests.length > 0) await endless.closed;
  });

  it('a destination that accepts the connection and never answers', async () => {
    const connections: Socket[] = [];
    const silent = createServer((socket) => connections.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { id } = await createdProfile(api, {
      url: `https://127.0.0.1:${portOf(silent)}/`,
      timeout: '300ms',
    });
    const { pending } = await given({ endpoint_id: id, ...ONCE });
    const { attempts } = await waitForEnd(api, pending.id);
    expect(attempts).toMatchObject([{ outcome: 'retryable', status_code: null }]);
    expect(attempts[0]?.egress_ms).toBeGreaterThanOrEqual(300);
    for (const connection of connections) connection.destroy();
    silent.close();
  });

  it('a hanging destination does not delay another one', async () => {
    const hung = hook(hang());
    const other = hook();
    const { id } = await createdProfile(api, { url: hung.url, timeout: '5s' });
    await Promise.all(Array.from({ length: 30 }, () => given({ endpoint_id: id, ...ONCE })));
    const { pending } = await given({ endpoint: other.url });
    const { attempts } = await waitForEnd(api, pending.id);
    expect(attempts[0]?.lateness_ms).toBeLessThan(3_000);
  });
});

describe.concurrent('the body of an answer is discarded, and at most 64 KiB of it are read', () => {
  it('an endless body: succeeded, and the connection is closed', async () => {
    const pouring = endlessBody(200);
    const { pending } = await given({ endpoint: hook(pouring).url });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'succeeded', last_status_code: 200 });
    // The timeout is 30 s. On a busy machine the pouring itself takes seconds.
    expect(attempts[0]?.egress_ms).toBeLessThan(20_000);
    await pouring.closed;
    // The buffers of both sides hold some of the written bytes too.
    expect(pouring.bytesWritten).toBeLessThan(16 * 1_048_576);
  });

  it('an error with an endless body is an error', async () => {
    const pouring = endlessBody(500);
    const { pending } = await given({ endpoint: hook(pouring).url, ...ONCE });
    expect((await waitForEnd(api, pending.id)).delivery).toMatchObject({
      status: 'dead_letter',
      last_status_code: 500,
    });
    await pouring.closed;
  });

  it('a slow body does not outlast the timeout', async () => {
    const trickle = endlessBody(200, { chunk: 10, everyMs: 50 });
    const target = hook(trickle);
    const { id } = await createdProfile(api, { url: target.url, timeout: '8s' });
    const { pending } = await given({ endpoint_id: id, ...ONCE });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'succeeded', last_status_code: 200 });
    expect(attempts[0]?.egress_ms).toBeLessThan(8_000);
    await trickle.closed;
  });

  it('a body is never decompressed, even with a wrong Content-Encoding', async () => {
    const target = hook(answer(200, { headers: { 'content-encoding': 'gzip' }, body: 'no gzip' }));
    const { pending } = await given({ endpoint: target.url });
    expect((await waitForEnd(api, pending.id)).delivery.status).toBe('succeeded');
  });

  it('a 2xx whose body is cut off is a 2xx', async () => {
    const target = hook(bytes('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc', 'reset'));
    const { pending } = await given({ endpoint: target.url, ...ONCE });
    expect((await waitForEnd(api, pending.id)).delivery).toMatchObject({
      status: 'succeeded',
      last_status_code: 200,
    });
  });

  it('an endless head does not crash the service', async () => {
    const { pending } = await given({ endpoint: hook(hugeHeaders(200, 2_000_000)).url, ...ONCE });
    const { attempts } = await waitForEnd(api, pending.id);
    expect(attempts).toHaveLength(1);
    expect(attempts[0]?.finished_at).not.toBeNull();
  });
});

describe.concurrent('connections', () => {
  it('an unrequested second answer is not used for the next delivery', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
    const twice = talkative().hook(bytes(head + head.replace('200 OK', '503 Busy'), 'stay'));
    const next = talkative().hook(answer(201));
    const first = await given({ endpoint: twice.url, ...ONCE });
    const { delivery: done } = await waitForEnd(api, first.pending.id);
    expect(done).toMatchObject({ status: 'succeeded', last_status_code: 200 });
    const second = await given({ endpoint: next.url, ...ONCE });
    const { delivery } = await waitForEnd(api, second.pending.id);
    expect(delivery).toMatchObject({ status: 'succeeded', last_status_code: 201 });
    expect(next.requests).toHaveLength(1);
  });

  it.each([
    ['with connection: close', true],
    ['silently', 'silently'],
  ] as const)('that the destination closes are not a failure: %s', async (_how, closes) => {
    // It has its own origin, because other deliveries must not use a connection that is about to be closed.
    const target = closing().hook(answer(200, { closes }));
    for (let i = 0; i < 2; i++) {
      const { pending } = await given({ endpoint: target.url, ...ONCE });
      expect((await waitForEnd(api, pending.id)).delivery.status).toBe('succeeded');
    }
  });
});
