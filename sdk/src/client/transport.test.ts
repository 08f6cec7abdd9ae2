import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Fetch } from './exchange.ts';
import { readOptions, type SchedOptions } from './options.ts';
import { sleep } from './sleep.ts';
import { type Dependencies, Transport } from './transport.ts';

const OBJECT = { object: 'schedule', id: 'sch_1', of_a_newer_service: true };
const GET = { method: 'GET', path: '/schedules/sch_1', answers: 'schedule' } as const;
const POST = { ...GET, method: 'POST', body: { a: 1, b: undefined }, hasIdempotencyKey: true } as const;

const ok = () => Response.json(OBJECT);
const failed = (headers: Record<string, string> = {}) => new Response('', { status: 503, headers });

/** Returns the answers in order and repeats the last one. Pauses are recorded and skipped. */
function given(answers: readonly (() => Response)[], options: Partial<SchedOptions> = {}) {
  const sent: RequestInit[] = [];
  const pauses: number[] = [];
  let keys = 0;
  const fetch: Fetch = async (_url, init) => {
    sent.push(init);
    const answer = answers[Math.min(sent.length, answers.length) - 1];
    if (answer === undefined) throw new TypeError('fetch failed');
    return answer();
  };
  const harness: Dependencies = {
    random: () => 1,
    newKey: () => `key-${++keys}`,
    nowMs: () => 0,
    sleep: async (ms) => void pauses.push(ms),
  };
  const settings = readOptions({
    url: 'http://sched.example',
    apiKey: 'sk_test_0123456789',
    fetch,
    ...options,
  });
  return { transport: new Transport(settings, harness), sent, pauses };
}

describe('a call', () => {
  test('that succeeds is made once, and unknown fields are passed on', async () => {
    const { transport, sent, pauses } = given([ok]);
    expect(await transport.call(GET)).toEqual(OBJECT);
    expect([sent.length, pauses.length]).toEqual([1, 0]);
  });

  test('that fails is retried after growing pauses, and rejects after the last retry', async () => {
    const { transport, sent, pauses } = given([failed]);
    await expect(transport.call(GET)).rejects.toMatchObject({ name: 'ApiError', status: 503 });
    expect(sent).toHaveLength(4);
    expect(pauses).toEqual([200, 400, 800]);
  });

  test('waits as long as Retry-After says', async () => {
    const { transport, pauses } = given([() => failed({ 'retry-after': '3' }), ok]);
    await transport.call(GET);
    expect(pauses).toEqual([3_000]);
  });

  test('forgets the Retry-After of an earlier answer', async () => {
    const { transport, pauses } = given([() => failed({ 'retry-after': '3' }), failed, ok]);
    await transport.call(GET);
    expect(pauses).toEqual([3_000, 400]);
  });

  test('keeps its key and body for all attempts, and the next call has another key', async () => {
    const { transport, sent } = given([failed, failed, ok]);
    await transport.call(POST);
    await transport.call(POST);
    const keys = sent.map(({ headers }) => new Headers(headers).get('idempotency-key'));
    expect(keys).toEqual(['key-1', 'key-1', 'key-1', 'key-2']);
    expect(new Set(sent.map(({ body }) => body))).toEqual(new Set(['{"a":1}']));
  });

  test('uses the key of the caller if there is one', async () => {
    const { transport, sent } = given([ok]);
    await transport.call(POST, { idempotencyKey: 'mine' });
    expect(new Headers(sent[0]?.headers).get('idempotency-key')).toBe('mine');
  });

  test('with a body asks for strict handling, unless the client opts out', async () => {
    const prefers = async (call: typeof GET | typeof POST, options?: Partial<SchedOptions>) => {
      const { transport, sent } = given([ok], options);
      await transport.call(call);
      return new Headers(sent[0]?.headers).get('prefer');
    };
    expect(await prefers(POST)).toBe('handling=strict');
    expect(await prefers(POST, { strict: false })).toBeNull();
    expect(await prefers(GET)).toBeNull();
  });

  test('with a body that is not JSON is refused before anything is sent', async () => {
    const { transport, sent } = given([ok]);
    const call = transport.call({ ...POST, body: { metadata: { order: 4711n } } });
    await expect(call).rejects.toThrow('The request cannot be written as JSON: "order" is a BigInt.');
    expect(sent).toHaveLength(0);
  });

  test.each([
    { idempotencyKey: '' },
    { timeoutMs: -1 },
    'key' as unknown as object,
    { signal: {} as AbortSignal },
  ])('with %o is refused before anything is sent', async (wrong) => {
    const { transport, sent } = given([ok]);
    await expect(transport.call(POST, wrong)).rejects.toThrow(TypeError);
    expect(sent).toHaveLength(0);
  });
});

describe('sleep', () => {
  afterEach(() => void vi.useRealTimers());

  test('resolves in time, or rejects at once with the reason of the signal, and leaves nothing behind', async () => {
    vi.useFakeTimers();
    const end = new AbortController();
    const removed = vi.spyOn(end.signal, 'removeEventListener');
    const whole = sleep(1_000, end.signal);
    await vi.advanceTimersByTimeAsync(1_000);
    await whole;
    expect(removed).toHaveBeenCalledOnce();

    // Nothing is awaited between two counts, so they do not include timers of other files in this process.
    const reason = new Error('enough');
    const before = vi.getTimerCount();
    const cut = sleep(1_000, end.signal);
    expect(vi.getTimerCount()).toBe(before + 1);
    end.abort(reason);
    const refused = sleep(1_000, end.signal);
    expect(vi.getTimerCount()).toBe(before);
    await Promise.all([cut, refused].map((one) => expect(one).rejects.toBe(reason)));
  });
});
