/** Tests the receiver of the inbox over HTTP: what it shows of a request, and how it answers. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningDev, startDevInThread } from './dev-in-thread.ts';
import { type EventStream, openStream, type Summary } from './event-stream.ts';

let dev: RunningDev;
let stream: EventStream;

beforeAll(async () => {
  dev = await startDevInThread();
  stream = await openStream(dev.url);
});
afterAll(async () => {
  stream[Symbol.dispose]();
  await dev[Symbol.asyncDispose]();
});

interface Details {
  readonly headers: readonly (readonly [string, string])[];
  readonly body: { readonly kind: string; readonly text?: string; readonly hex?: string };
}

async function detailsOf({ number }: Summary): Promise<Details> {
  return (await (await fetch(`${dev.url}/inbox/arrivals/${number}`)).json()) as Details;
}

async function setAnswer(answer: string, times: number | null = null): Promise<void> {
  const answered = await fetch(`${dev.url}/inbox/answer`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ answer, times }),
  });
  expect(answered.status).toBe(200);
}

/** Creates a schedule to its own path, and returns the path. */
async function scheduled(name: string, body: object = {}): Promise<string> {
  await dev.create({ endpoint: `${dev.hook}/${name}?tenant=1`, delay: '1s', ...body });
  return `/inbox/hook/${name}`;
}

const hasStatus = (status: string) => (line: Summary) => line.delivery?.now?.status === status;

describe('the receiver shows', () => {
  test.concurrent('the lateness, signature, answer and status of a delivery', async () => {
    const path = await scheduled('delivery', { body: '{"a":1}', headers: { 'X-Spelled-So': 'Value' } });
    const line = await stream.arrival(path, hasStatus('succeeded'));
    expect(line).toMatchObject({
      method: 'POST',
      target: `${path}?tenant=1`,
      bytes: 7,
      signature: { verified: true },
      answered: { kind: 'answered', status: 200 },
      delivery: { id: expect.stringMatching(/^dlv_/), attempt: 1, now: { attempt_count: 1, next_at: null } },
    });
    const delivery = await dev.call<{ readonly scheduled_for: string }>(
      'GET',
      `/v1/deliveries/${line.delivery?.id}`,
    );
    expect(line.delivery?.lateness_ms).toBe(line.at - Date.parse(delivery.scheduled_for));
    expect(line.delivery?.lateness_ms).toBeGreaterThanOrEqual(0);

    const { headers, body } = await detailsOf(line);
    expect(body).toEqual({ kind: 'text', text: '{"a":1}' });
    expect(headers).toContainEqual(['X-Spelled-So', 'Value']);
    expect(headers).toContainEqual(['Content-Type', 'application/json']);
    expect(headers.map(([name]) => name)).not.toContain('sched-request-id');
  });

  test.concurrent.each(['GET', 'DELETE', 'PUT', 'PATCH'])(
    'a %s request whose body is not JSON, byte for byte',
    async (method) => {
      const path = await scheduled(`method-${method}`, {
        method,
        body: 'ä body',
        headers: { 'Content-Type': 'text/strange; =' },
      });
      const line = await stream.arrival(path);
      expect(line).toMatchObject({ method, signature: { verified: true } });
      expect(await detailsOf(line)).toMatchObject({ body: { kind: 'text', text: 'ä body' } });
    },
  );

  test.concurrent('that a request of another sender is not signed and belongs to no delivery', async () => {
    await fetch(`${dev.hook}/curl`, { method: 'POST', body: 'by hand' });
    const line = await stream.arrival('/inbox/hook/curl');
    expect(line).toMatchObject({
      signature: { verified: false, why: expect.stringContaining('Sched-Signature is missing') },
      delivery: null,
      answered: { kind: 'answered', status: 200 },
    });
  });

  test.concurrent('that a copy of a delivery with another body has no valid signature', async () => {
    const path = await scheduled('original', { body: 'for 10 only' });
    const original = await stream.arrival(path);
    const { headers } = await detailsOf(original);
    const own = headers.filter(([name]) => /^(sched-|idempotency)/i.test(name));
    await fetch(`${dev.hook}/original?tenant=1`, {
      method: 'POST',
      headers: Object.fromEntries(own),
      body: 'for 99 only',
    });
    const copy = await stream.arrival(path, ({ number }) => number !== original.number);
    expect(copy).toMatchObject({ signature: { verified: false }, delivery: null });
  });

  test.concurrent('a path that cannot be decoded, unchanged', async () => {
    const paths = await Promise.all(['%zz', '%c3%28', 'a%2Fb%'].map((name) => scheduled(name)));
    for (const path of paths) {
      const line = await stream.arrival(path, hasStatus('succeeded'));
      expect(line).toMatchObject({ target: `${path}?tenant=1`, signature: { verified: true } });
    }
  });

  test.concurrent('a body that is not text in hex', async () => {
    await fetch(`${dev.hook}/binary`, { method: 'POST', body: Uint8Array.of(0xff, 0xfe, 0x00) });
    const line = await stream.arrival('/inbox/hook/binary');
    expect(await detailsOf(line)).toMatchObject({ body: { kind: 'binary', hex: 'fffe00' } });
  });

  test.concurrent('nothing of a request that is too large', async () => {
    const answer = await fetch(`${dev.hook}/large`, { method: 'POST', body: Buffer.alloc(1_048_577) });
    expect(answer.status).toBe(413);
    await fetch(`${dev.hook}/after-large`);
    await stream.arrival('/inbox/hook/after-large');
    expect(stream.events.filter(({ data }) => data.arrival?.target === '/inbox/hook/large')).toEqual([]);
  });
});

describe('the receiver answers', () => {
  test('500 until another answer is set, then the retry succeeds', async () => {
    await setAnswer('500');
    const path = await scheduled('fails', { retry_policy: { base: '600ms', factor: 1 } });
    const first = await stream.arrival(path, hasStatus('retry_scheduled'));
    expect(first).toMatchObject({
      answered: { status: 500 },
      delivery: { attempt: 1, now: { error: 'HTTP 500' } },
    });
    expect(first.delivery?.now?.next_at).toBeGreaterThan(first.at);
    await setAnswer('200');
    const second = await stream.arrival(path, ({ delivery }) => delivery?.attempt === 2);
    expect(second.answered).toEqual({ kind: 'answered', status: 200 });
    // The first arrival shows the new status as well.
    await stream.arrival(path, (line) => line.number === first.number && hasStatus('succeeded')(line));
  });

  test('500 to the next two requests, then 200 again', async () => {
    await setAnswer('500', 2);
    const statuses: number[] = [];
    for (let times = 0; times < 3; times++) statuses.push((await fetch(`${dev.hook}/times`)).status);
    expect(statuses).toEqual([500, 500, 200]);
    const choices = stream.events.flatMap(({ data }) => (data.answer === undefined ? [] : [data.answer]));
    expect(choices.slice(-3)).toEqual([
      { answer: '500', times: 2 },
      { answer: '500', times: 1 },
      { answer: '200', times: null },
    ]);
  });

  test('500, and shows later changes of the schedule while the retry waits', async () => {
    await setAnswer('500', 1);
    const id = await dev.create({
      endpoint: `${dev.hook}/edited`,
      delay: '1s',
      retry_policy: { base: '1h' },
    });
    await stream.arrival('/inbox/hook/edited', hasStatus('retry_scheduled'));
    await dev.call('POST', `/v1/schedules/${id}/pause`);
    await stream.arrival('/inbox/hook/edited', hasStatus('paused'));
    await dev.call('POST', `/v1/schedules/${id}/cancel`);
    await stream.arrival('/inbox/hook/edited', hasStatus('canceled'));
  });

  test('a redirect, which is not followed and ends the delivery', async () => {
    await setAnswer('redirect', 1);
    const path = await scheduled('redirected');
    const line = await stream.arrival(path, hasStatus('dead_letter'));
    expect(line).toMatchObject({
      answered: { status: 302 },
      delivery: { now: { error: 'redirect (HTTP 302)' } },
    });
    // The network is that of the developer, so the beginning of the answer is kept.
    const kept = await dev.call('GET', `/v1/deliveries/${line.delivery?.id}/attempts/1/response`);
    expect(kept).toMatchObject({ status_code: 302, encoding: 'utf-8', truncated: false });
    expect(stream.events.filter(({ data }) => data.arrival?.target.includes('elsewhere'))).toEqual([]);
  });

  test('nothing until another answer is set', async () => {
    await setAnswer('hang', 1);
    const path = await scheduled('hangs');
    const hanging = await stream.arrival(path);
    expect(hanging).toMatchObject({ answered: { kind: 'hangs' }, delivery: { now: { status: 'claimed' } } });
    // Only that one request hangs.
    expect((await fetch(`${dev.hook}/beside`)).status).toBe(200);
    await setAnswer('200');
    const line = await stream.arrival(path, hasStatus('succeeded'));
    expect(line).toMatchObject({ number: hanging.number, answered: { kind: 'answered', status: 200 } });
  });

  test('nothing until the sender gives up', async () => {
    await setAnswer('hang');
    const sending = request(`${dev.hook}/given-up`, { method: 'POST' });
    sending.on('error', () => {});
    sending.end();
    await stream.arrival('/inbox/hook/given-up');
    sending.destroy();
    const line = await stream.arrival('/inbox/hook/given-up', ({ answered }) => answered.kind === 'gave_up');
    expect(line.answered).toMatchObject({ afterMs: expect.any(Number) });
    await setAnswer('200');
  });
});
