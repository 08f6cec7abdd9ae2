/** The receiver of the inbox, over HTTP: what it shows of a request, and how it answers. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DevProcess, startDev } from './dev-process.ts';
import { type EventStream, type Line, openStream } from './event-stream.ts';

let dev: DevProcess;
let stream: EventStream;

beforeAll(async () => {
  dev = await startDev();
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

async function detailsOf({ number }: Line): Promise<Details> {
  return (await (await fetch(`${dev.url}/inbox/arrivals/${number}`)).json()) as Details;
}

async function choose(answer: string, times: number | null = null): Promise<void> {
  const told = await fetch(`${dev.url}/inbox/answer`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ answer, times }),
  });
  expect(told.status).toBe(200);
}

/** A schedule to a path of its own; answers the path. */
async function scheduled(name: string, body: object = {}): Promise<string> {
  await dev.create({ endpoint: `${dev.hook}/${name}?tenant=1`, delay: '1s', ...body });
  return `/inbox/hook/${name}`;
}

const stands = (status: string) => (line: Line) => line.delivery?.now?.status === status;

describe('what is shown', () => {
  test.concurrent('a delivery: on time, signed, answered, and what became of it', async () => {
    const path = await scheduled('delivery', { body: '{"a":1}', headers: { 'X-Spelled-So': 'Value' } });
    const line = await stream.arrival(path, stands('succeeded'));
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
    'a %s whose body is no JSON, to the last byte that was signed',
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

  test.concurrent('a request that anybody sent: it is not signed, and no delivery', async () => {
    await fetch(`${dev.hook}/curl`, { method: 'POST', body: 'by hand' });
    const line = await stream.arrival('/inbox/hook/curl');
    expect(line).toMatchObject({
      signature: { verified: false, why: expect.stringContaining('Sched-Signature is missing') },
      delivery: null,
      answered: { kind: 'answered', status: 200 },
    });
  });

  test.concurrent('a copy of a delivery with another body: why it is not to be trusted', async () => {
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

  test.concurrent('a path that cannot be decoded, as it came', async () => {
    const paths = await Promise.all(['%zz', '%c3%28', 'a%2Fb%'].map((name) => scheduled(name)));
    for (const path of paths) {
      const line = await stream.arrival(path, stands('succeeded'));
      expect(line).toMatchObject({ target: `${path}?tenant=1`, signature: { verified: true } });
    }
  });

  test.concurrent('what is no text, in hex', async () => {
    await fetch(`${dev.hook}/binary`, { method: 'POST', body: Uint8Array.of(0xff, 0xfe, 0x00) });
    const line = await stream.arrival('/inbox/hook/binary');
    expect(await detailsOf(line)).toMatchObject({ body: { kind: 'binary', hex: 'fffe00' } });
  });

  test.concurrent('nothing of what is too large', async () => {
    const answer = await fetch(`${dev.hook}/large`, { method: 'POST', body: Buffer.alloc(1_048_577) });
    expect(answer.status).toBe(413);
    await fetch(`${dev.hook}/after-large`);
    await stream.arrival('/inbox/hook/after-large');
    expect(stream.told.filter(({ data }) => data.arrival?.target === '/inbox/hook/large')).toEqual([]);
  });
});

describe('how it answers', () => {
  test('500 until told otherwise, and the retry is known; then the next attempt succeeds', async () => {
    await choose('500');
    const path = await scheduled('fails', { retry_policy: { base: '600ms', factor: 1 } });
    const first = await stream.arrival(path, stands('retry_scheduled'));
    expect(first).toMatchObject({
      answered: { status: 500 },
      delivery: { attempt: 1, now: { error: 'HTTP 500' } },
    });
    expect(first.delivery?.now?.next_at).toBeGreaterThan(first.at);
    await choose('200');
    const second = await stream.arrival(path, ({ delivery }) => delivery?.attempt === 2);
    expect(second.answered).toEqual({ kind: 'answered', status: 200 });
    // The first one knows as well.
    await stream.arrival(path, (line) => line.number === first.number && stands('succeeded')(line));
  });

  test('500 to the next two, then 200 again', async () => {
    await choose('500', 2);
    const statuses: number[] = [];
    for (let times = 0; times < 3; times++) statuses.push((await fetch(`${dev.hook}/times`)).status);
    expect(statuses).toEqual([500, 500, 200]);
    const choices = stream.told.flatMap(({ data }) => (data.answer === undefined ? [] : [data.answer]));
    expect(choices.slice(-3)).toEqual([
      { answer: '500', times: 2 },
      { answer: '500', times: 1 },
      { answer: '200', times: null },
    ]);
  });

  test('500, and while the retry waits it shows what somebody makes of the schedule', async () => {
    await choose('500', 1);
    const id = await dev.create({
      endpoint: `${dev.hook}/edited`,
      delay: '1s',
      retry_policy: { base: '1h' },
    });
    await stream.arrival('/inbox/hook/edited', stands('retry_scheduled'));
    await dev.call('POST', `/v1/schedules/${id}/pause`);
    await stream.arrival('/inbox/hook/edited', stands('paused'));
    await dev.call('POST', `/v1/schedules/${id}/cancel`);
    await stream.arrival('/inbox/hook/edited', stands('canceled'));
  });

  test('a redirect, which is never followed and ends the delivery', async () => {
    await choose('redirect', 1);
    const path = await scheduled('redirected');
    const line = await stream.arrival(path, stands('dead_letter'));
    expect(line).toMatchObject({
      answered: { status: 302 },
      delivery: { now: { error: 'redirect (HTTP 302)' } },
    });
    expect(stream.told.filter(({ data }) => data.arrival?.target.includes('elsewhere'))).toEqual([]);
  });

  test('nothing at all, until there is another choice', async () => {
    await choose('hang', 1);
    const path = await scheduled('hangs');
    const hanging = await stream.arrival(path);
    expect(hanging).toMatchObject({ answered: { kind: 'hangs' }, delivery: { now: { status: 'claimed' } } });
    // That one request alone hangs.
    expect((await fetch(`${dev.hook}/beside`)).status).toBe(200);
    await choose('200');
    const line = await stream.arrival(path, stands('succeeded'));
    expect(line).toMatchObject({ number: hanging.number, answered: { kind: 'answered', status: 200 } });
  });

  test('nothing at all, until the sender gives up', async () => {
    await choose('hang');
    const sending = request(`${dev.hook}/given-up`, { method: 'POST' });
    sending.on('error', () => {});
    sending.end();
    await stream.arrival('/inbox/hook/given-up');
    sending.destroy();
    const line = await stream.arrival('/inbox/hook/given-up', ({ answered }) => answered.kind === 'gave_up');
    expect(line.answered).toMatchObject({ afterMs: expect.any(Number) });
    await choose('200');
  });
});
