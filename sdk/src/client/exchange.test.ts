import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ANSWER_BYTES_MAX, exchange, type Fetch } from './exchange.ts';

const SENDING = { method: 'GET', url: 'http://sched.example/v1/x?cursor=c', headers: {}, body: null };

/** No other file in this process has timers of this length. */
const TIMEOUT_MS = 4_321;
/** The timers of the calls of a test. */
const running = new Set<unknown>();

beforeEach(() => {
  running.clear();
  vi.useFakeTimers();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((act: () => void, ms: number) => {
    const timer = set(act, ms);
    if (ms === TIMEOUT_MS) running.add(timer);
    return timer;
  }) as typeof setTimeout);
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    running.delete(timer);
    clear(timer);
  });
});
afterEach(() => {
  // Nothing may keep running after a test.
  expect(running).toEqual(new Set());
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A `fetch` that never answers and ignores its signal. */
const deaf: Fetch = () => new Promise(() => {});

function bodyOf(...chunks: readonly Uint8Array[]): Fetch {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  return async () => new Response(body, { headers: { 'sched-request-id': 'req_1', 'retry-after': '7' } });
}

describe('an answer', () => {
  test('is read as a whole, even if a chunk ends within a character', async () => {
    const bytes = new TextEncoder().encode('{"name":"Zoë €"}');
    const fetch = bodyOf(...[...bytes].map((byte) => Uint8Array.of(byte)));
    expect(await exchange(fetch, SENDING, { timeoutMs: TIMEOUT_MS, signal: undefined })).toEqual({
      status: 200,
      requestId: 'req_1',
      retryAfter: '7',
      isUnchanged: false,
      text: '{"name":"Zoë €"}',
    });
  });

  test('without a body is empty', async () => {
    const answer = await exchange(async () => new Response(null, { status: 204 }), SENDING, {
      timeoutMs: TIMEOUT_MS,
      signal: undefined,
    });
    expect(answer).toMatchObject({ status: 204, requestId: null, text: '' });
  });

  test('that is too large is an error', async () => {
    const chunk = new Uint8Array(ANSWER_BYTES_MAX / 4 + 1);
    const cancelled = vi.fn();
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(chunk),
      cancel: cancelled,
    });
    const call = exchange(async () => new Response(body), SENDING, {
      timeoutMs: TIMEOUT_MS,
      signal: undefined,
    });
    await expect(call).rejects.toMatchObject({ name: 'ApiError', code: 'unexpected_answer', status: 200 });
    expect(cancelled).toHaveBeenCalledOnce();
  });

  test('redirects are not followed, and fetch gets a signal', async () => {
    const fetch = vi.fn<Fetch>(async () => new Response('{}'));
    await exchange(fetch, SENDING, { timeoutMs: TIMEOUT_MS, signal: undefined });
    expect(fetch).toHaveBeenCalledWith(SENDING.url, {
      method: 'GET',
      headers: {},
      body: null,
      redirect: 'manual',
      signal: expect.any(AbortSignal),
    });
  });
});

describe('no answer', () => {
  const itsOwnCause = new Error('odd');
  itsOwnCause.cause = itsOwnCause;

  test('within the time limit is an error, even if the runtime ignores its signal', async () => {
    const call = exchange(deaf, SENDING, { timeoutMs: TIMEOUT_MS, signal: undefined });
    const failed = expect(call).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'timeout',
      status: null,
    });
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
    await failed;
  });

  test('is an error that names the deepest cause, and leaves out the query', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const cause = new TypeError('fetch failed', { cause: refused });
    const call = exchange(() => Promise.reject(cause), SENDING, { timeoutMs: TIMEOUT_MS, signal: undefined });
    await expect(call).rejects.toMatchObject({
      message: 'GET http://sched.example/v1/x was not answered: nothing listens there (ECONNREFUSED).',
      cause,
    });
  });

  test.each([[undefined], [null], ['text'], [{}], [itsOwnCause]])(
    'is an error for a rejection with %j',
    async (reason) => {
      const call = exchange(() => Promise.reject(reason), SENDING, {
        timeoutMs: TIMEOUT_MS,
        signal: undefined,
      });
      await expect(call).rejects.toMatchObject({ code: 'connection_failed' });
    },
  );
});

describe('an abort', () => {
  const reason = new Error('enough');

  test('before the call sends nothing', async () => {
    const fetch = vi.fn<Fetch>(deaf);
    const call = exchange(fetch, SENDING, { timeoutMs: TIMEOUT_MS, signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toBe(reason);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('during the call ends it, even if the runtime ignores its signal', async () => {
    const end = new AbortController();
    const call = exchange(deaf, SENDING, { timeoutMs: TIMEOUT_MS, signal: end.signal });
    end.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  test('while the body is read ends the call, even if the runtime ignores its signal', async () => {
    const end = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Uint8Array.of(123)),
    });
    const call = exchange(async () => new Response(body), SENDING, {
      timeoutMs: TIMEOUT_MS,
      signal: end.signal,
    });
    await vi.advanceTimersByTimeAsync(1);
    end.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  test('ends every call with this signal, over a single listener', async () => {
    const end = new AbortController();
    const added = vi.spyOn(end.signal, 'addEventListener');
    const limits = { timeoutMs: TIMEOUT_MS, signal: end.signal };
    await exchange(async () => new Response('{}'), SENDING, limits);
    const calls = Array.from({ length: 20 }, () => exchange(deaf, SENDING, limits));
    await exchange(async () => new Response('{}'), SENDING, limits);
    end.abort(reason);
    for (const call of await Promise.allSettled(calls)) expect(call).toEqual({ status: 'rejected', reason });
    // One listener for the first call, which had ended, and one for the later calls.
    expect(added).toHaveBeenCalledTimes(2);
  });

  test('after the call finds no listener', async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    await exchange(async () => new Response('{}'), SENDING, { timeoutMs: TIMEOUT_MS, signal });
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener),
    );
  });
});
