/** One table of cases for all four adapters: a receiver behaves the same in every framework. */
import { describe, expect, it } from 'vitest';
import {
  MemoryStore,
  type NotVerified,
  type ReceivedDelivery,
  type ReceiverOptions,
} from '#sdk/receiver/index.ts';
import { ADAPTERS, type AdapterServer, type Running } from './adapter-servers.ts';
import { type Answered, send } from './send.ts';
import { DELIVERY_ID, SECRET } from './signing.ts';

const OTHER_DELIVERY_ID = 'dlv_01jd5x3v8k2m4n6p8r0t2w4y6b';
const BODY = '{ "text": "Grüße" }\n';
const BODY_BYTES_MAX = 1_048_576;
const EMPTY = { status: 204, text: '' };

interface AdapterHarness extends AsyncDisposable {
  readonly port: number;
  /** The deliveries that the handler got. */
  readonly deliveries: readonly ReceivedDelivery[];
  readonly refusals: readonly NotVerified[];
}

async function startAdapter(
  { start }: AdapterServer,
  options: Partial<ReceiverOptions> = {},
): Promise<AdapterHarness> {
  const deliveries: ReceivedDelivery[] = [];
  const refusals: NotVerified[] = [];
  const { handle = () => {} } = options;
  const running: Running = await start({
    secret: SECRET,
    onRejected: (refusal) => refusals.push(refusal),
    ...options,
    handle: (delivery) => {
      deliveries.push(delivery);
      return handle(delivery);
    },
  });
  const { port } = running;
  return { port, deliveries, refusals, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

function refused(status: number, error: string): Answered {
  return { status, text: JSON.stringify({ error }) };
}

describe.concurrent.each(ADAPTERS)('$name', (adapter) => {
  it('passes a valid delivery to the handler and answers 204', async () => {
    await using harness = await startAdapter(adapter);
    const headers = { 'Content-Type': 'application/json', 'X-Mine': 'mine' };
    const sending = { body: BODY, attempt: 3, idempotencyKey: 'key 1', headers };
    expect(await send(harness.port, { ...sending, arrives: { url: '/hook?a=1' } })).toEqual(EMPTY);
    const [delivery, ...others] = harness.deliveries;
    if (delivery === undefined) throw new Error('The handler was not called.');
    expect(others).toEqual([]);
    expect(delivery).toMatchObject({
      deliveryId: DELIVERY_ID,
      attempt: 3,
      idempotencyKey: 'key 1',
      method: 'POST',
      path: '/hook',
    });
    expect(Math.abs(delivery.timestamp - Date.now() / 1_000)).toBeLessThan(60);
    expect(delivery.headers.get('x-mine')).toBe('mine');
    expect(Buffer.from(delivery.body).toString()).toBe(BODY);
    expect(delivery.text()).toBe(BODY);
    expect(delivery.json()).toEqual({ text: 'Grüße' });
  });

  it.each([
    ['with all byte values, without a type', Uint8Array.from({ length: 256 }, (_, i) => i), {}],
    ['of an unknown type', 'text', { 'Content-Type': 'application/x-unheard-of' }],
    ['that is not valid JSON', '{', { 'Content-Type': 'application/json' }],
    ['of a form', 'a=1&b=2', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['that is empty', '', {}],
    ['with the maximum length', 'x'.repeat(BODY_BYTES_MAX), {}],
  ] as const)('accepts a body %s', async (_what, body, headers) => {
    await using harness = await startAdapter(adapter);
    expect(await send(harness.port, { body, headers })).toEqual(EMPTY);
    expect(await send(harness.port, { body, headers, isChunked: true })).toEqual(EMPTY);
    const arrived = harness.deliveries.map((delivery) => Buffer.from(delivery.body));
    expect(arrived.map((each) => each.equals(Buffer.from(body)))).toEqual([true, true]);
  });

  it.each(['GET', 'PUT', 'PATCH', 'DELETE'] as const)('%s', async (method) => {
    await using harness = await startAdapter(adapter);
    expect(await send(harness.port, { method })).toEqual(EMPTY);
    if (method === 'GET' && !adapter.readsBodyOfGet) return;
    expect(await send(harness.port, { method, body: BODY })).toEqual(EMPTY);
    expect(harness.deliveries.at(-1)?.text()).toBe(BODY);
  });

  it('verifies the requested path, with a prefix and with escapes', async () => {
    await using harness = await startAdapter(adapter);
    const path = '/api/hook/a%20b%2fc';
    expect(await send(harness.port, { path, arrives: { url: `${path}?x=/y` } })).toEqual(EMPTY);
    expect(harness.deliveries[0]?.path).toBe(path);
  });

  it('the option path corrects a path that a proxy rewrote', async () => {
    await using harness = await startAdapter(adapter, { path: (path) => `/public${path}` });
    expect(await send(harness.port, { path: '/public/hook', arrives: { url: '/hook' } })).toEqual(EMPTY);
    expect((await send(harness.port)).status).toBe(401);
  });

  it('returns the answer of the handler', async () => {
    await using harness = await startAdapter(adapter, { handle: async () => ({ status: 202 }) });
    expect(await send(harness.port)).toMatchObject({ status: 202 });
  });

  it('answers 401 with only the reason to an invalid request, and gives the developer the message', async () => {
    await using harness = await startAdapter(adapter);
    const arrives = { body: BODY.trim() };
    expect(await send(harness.port, { body: BODY, arrives })).toEqual(refused(401, 'body_reserialised'));
    expect(await send(harness.port, { secrets: ['whsec_other'] })).toEqual(
      refused(401, 'no_signature_matches'),
    );
    expect(await send(harness.port, { timestamp: 1 })).toEqual(refused(401, 'timestamp_too_old'));
    expect(harness.deliveries).toEqual([]);
    const messages = harness.refusals.map(({ message }) => message);
    expect(messages).toEqual([
      expect.stringContaining('line break at its end'),
      expect.stringContaining('secret'),
      expect.stringContaining('too old'),
    ]);
  });

  it('does not search for mistakes without onRejected', async () => {
    await using harness = await startAdapter(adapter, { onRejected: undefined });
    const arrives = { body: BODY.trim() };
    expect(await send(harness.port, { body: BODY, arrives })).toEqual(refused(401, 'no_signature_matches'));
  });

  it('answers 413 to a body that is too long, with and without Content-Length', async () => {
    await using harness = await startAdapter(adapter, { bodyBytesMax: 100_000 });
    const body = 'x'.repeat(100_001);
    expect(await send(harness.port, { body })).toEqual(refused(413, 'body_too_large'));
    expect(await send(harness.port, { body, isChunked: true })).toEqual(refused(413, 'body_too_large'));
    expect(await send(harness.port, { body: body.slice(1) })).toEqual(EMPTY);
    expect(harness.deliveries).toHaveLength(1);
    expect(harness.refusals.map(({ reason }) => reason)).toEqual(['body_too_large', 'body_too_large']);
  });

  it('answers 500 if the handler throws, and handles the next attempt', async () => {
    const handle = async ({ attempt }: ReceivedDelivery) => {
      if (attempt === 1) throw new Error('not now');
    };
    await using harness = await startAdapter(adapter, { handle, deduplicate: new MemoryStore() });
    expect((await send(harness.port)).status).toBe(500);
    expect(await send(harness.port, { attempt: 2 })).toEqual(EMPTY);
    expect(harness.deliveries.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('handles the next attempt after another answer than 2xx', async () => {
    const handle = ({ attempt }: ReceivedDelivery) => ({ status: attempt === 1 ? 503 : 202 });
    await using harness = await startAdapter(adapter, { handle, deduplicate: new MemoryStore() });
    const statuses: number[] = [];
    for (const attempt of [1, 2, 3]) statuses.push((await send(harness.port, { attempt })).status);
    expect(statuses).toEqual([503, 202, 200]);
    expect(harness.deliveries.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('answers 409 while a delivery is in progress, and does not handle a done one again', async () => {
    const { promise: isHandled, resolve: release } = Promise.withResolvers<void>();
    const { promise: isBegun, resolve: begun } = Promise.withResolvers<void>();
    const handle = () => {
      begun();
      return isHandled;
    };
    await using harness = await startAdapter(adapter, { handle, deduplicate: new MemoryStore() });
    const first = send(harness.port);
    await isBegun;
    expect(await send(harness.port, { attempt: 2 })).toEqual(refused(409, 'in_progress'));
    // The signed id counts too, because an attacker who captured the request may have changed the key.
    expect(await send(harness.port, { idempotencyKey: 'changed' })).toEqual(refused(409, 'in_progress'));
    const another = send(harness.port, { deliveryId: OTHER_DELIVERY_ID });
    release();
    expect(await first).toEqual(EMPTY);
    expect(await another).toEqual(EMPTY);
    expect(await send(harness.port, { attempt: 3 })).toEqual({ status: 200, text: '{"duplicate":true}' });
    expect(harness.deliveries.map(({ deliveryId }) => deliveryId)).toEqual([DELIVERY_ID, OTHER_DELIVERY_ID]);
  });

  it.each([
    ['idempotency_key', 1],
    ['delivery_id', 2],
  ] as const)('with %s, a delivery and its replay are handled %i times', async (deduplicateBy, times) => {
    await using harness = await startAdapter(adapter, { deduplicate: new MemoryStore(), deduplicateBy });
    const key = { idempotencyKey: 'the same' };
    for (const attempt of [1, 2]) await send(harness.port, { ...key, attempt });
    await send(harness.port, { ...key, deliveryId: OTHER_DELIVERY_ID });
    expect(harness.deliveries).toHaveLength(times);
  });

  it('a captured request that is sent again with another key is a duplicate', async () => {
    await using harness = await startAdapter(adapter, { deduplicate: new MemoryStore() });
    expect(await send(harness.port, { idempotencyKey: 'its own' })).toEqual(EMPTY);
    const again = await send(harness.port, { idempotencyKey: 'another' });
    expect(again).toEqual({ status: 200, text: '{"duplicate":true}' });
    // The key was not taken, so the delivery that owns it is handled.
    const owner = { idempotencyKey: 'another', deliveryId: OTHER_DELIVERY_ID };
    expect(await send(harness.port, owner)).toEqual(EMPTY);
    expect(harness.deliveries).toHaveLength(2);
  });

  it('a delivery with a done key is a duplicate, but its id is not marked as done', async () => {
    await using harness = await startAdapter(adapter, { deduplicate: new MemoryStore() });
    await send(harness.port, { idempotencyKey: 'done' });
    const duplicate = { idempotencyKey: 'done', deliveryId: OTHER_DELIVERY_ID };
    expect((await send(harness.port, duplicate)).status).toBe(200);
    expect(await send(harness.port, { ...duplicate, idempotencyKey: 'its own' })).toEqual(EMPTY);
  });

  it('if the store fails between the two keys, it keeps neither', async () => {
    const store = new MemoryStore();
    let isAway = true;
    const begin = async (key: string) => {
      if (key === 'key' && isAway) throw new Error('away');
      return store.begin(key);
    };
    const deduplicate = {
      begin,
      done: (key: string) => store.done(key),
      forget: (key: string) => store.forget(key),
    };
    await using harness = await startAdapter(adapter, { deduplicate });
    expect((await send(harness.port, { idempotencyKey: 'key' })).status).toBe(500);
    expect([harness.deliveries.length, store.size]).toEqual([0, 0]);
    isAway = false;
    expect(await send(harness.port, { idempotencyKey: 'key', attempt: 2 })).toEqual(EMPTY);
    expect(store.size).toBe(2);
  });

  it('handles nothing while the store fails, and a failed record does not change the answer', async () => {
    let begun = 0;
    const noted: unknown[] = [];
    const away = () => Promise.reject(new Error('away'));
    const begin = async () => (++begun === 1 ? away() : ('new' as const));
    const onStoreError = (error: unknown) => noted.push(error);
    await using harness = await startAdapter(adapter, {
      deduplicate: { begin, done: away, forget: away },
      onStoreError,
    });
    expect((await send(harness.port)).status).toBe(500);
    expect(harness.deliveries).toEqual([]);
    expect(await send(harness.port)).toEqual(EMPTY);
    expect(noted).toEqual([new Error('away')]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('the log is full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the log is full'))],
  ])('a callback that %s does not change the answer', async (_how, callback) => {
    await using harness = await startAdapter(adapter, {
      onRejected: callback,
      onStoreError: callback,
      deduplicate: { begin: async () => 'new', done: callback, forget: callback },
    });
    expect(await send(harness.port, { secrets: ['whsec_other'] })).toEqual(
      refused(401, 'no_signature_matches'),
    );
    expect(await send(harness.port)).toEqual(EMPTY);
  });

  it.each([{ secret: '' }, { secret: [] }, { toleranceSeconds: Number.NaN }, { bodyBytesMax: 2e6 }])(
    'refuses the options %j at the start',
    async (options) => {
      await expect((async () => startAdapter(adapter, options))()).rejects.toThrow(
        /secret|tolerance|bodyBytesMax/,
      );
    },
  );
});
