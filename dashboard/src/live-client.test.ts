/** The tests move the clock by hand and play the other end of the streams. */
import { describe, expect, test } from 'vitest';
import { ApiError } from './api.ts';
import { LiveClient, type LiveListener } from './live-client.ts';

interface Stream {
  readonly watches: readonly string[];
  readonly listener: LiveListener;
  isClosed: boolean;
}

class LiveHarness {
  readonly streams: Stream[] = [];
  readonly requested: string[] = [];
  /** Paths of automatic requests. */
  readonly automatic: string[] = [];
  isHidden = false;
  isSignedOut = false;
  answer: (path: string) => unknown = (path) => `response of ${path}`;
  #now = 0;
  #timers: { readonly at: number; readonly action: () => void }[] = [];

  readonly client = new LiveClient({
    get: async (path, isAutomatic) => {
      this.requested.push(path);
      if (isAutomatic) this.automatic.push(path);
      return this.answer(path);
    },
    open: (watches, listener) => {
      const stream = { watches, listener, isClosed: false };
      this.streams.push(stream);
      return {
        close: () => {
          stream.isClosed = true;
        },
      };
    },
    later: (ms, action) => {
      const timer = { at: this.#now + ms, action };
      this.#timers.push(timer);
      return () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      };
    },
    isHidden: () => this.isHidden,
    onSignedOut: () => {
      this.isSignedOut = true;
    },
    random: () => 0.5,
  });

  get stream(): Stream {
    const last = this.streams.at(-1);
    if (last === undefined) throw new Error('No stream was opened.');
    return last;
  }

  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = next.at;
      next.action();
      await settled();
    }
    this.#now = until;
    await settled();
  }
}

/** Waits until all promises that can settle have settled. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve));
}

describe('a watch', () => {
  test('gets its first data by GET, then shares one stream with the other watches', async () => {
    const harness = new LiveHarness();
    const { view } = harness.client.acquire('overview');
    harness.client.acquire('keys');
    expect(view.value.state).toBe('loading');
    await harness.pass(50);
    expect(view.value).toMatchObject({ data: 'response of overview', state: 'live' });
    expect(harness.streams.map(({ watches }) => watches)).toEqual([['overview', 'keys']]);
    harness.stream.listener.opened();
    harness.stream.listener.data('overview', 'newer');
    expect(view.value.data).toBe('newer');
    expect(harness.client.connection.value).toBe('live');
  });

  test('does not let a slow first response replace newer data of the stream', async () => {
    const harness = new LiveHarness();
    let answerNow: (value: unknown) => void = () => undefined;
    harness.answer = () => new Promise((resolve) => (answerNow = resolve));
    const { view } = harness.client.acquire('overview');
    await harness.pass(50);
    harness.stream.listener.data('overview', 'newer');
    answerNow('older');
    await settled();
    expect(view.value.data).toBe('newer');
  });

  test('marks polls as automatic, and requests of the user not', async () => {
    const harness = new LiveHarness();
    harness.client.acquire('a');
    await harness.pass(50);
    await harness.client.refresh();
    expect([harness.requested, harness.automatic]).toEqual([['a', 'a'], []]);
    await harness.pass(120_000);
    harness.stream.listener.failed(false);
    await harness.pass(120_000);
    harness.client.wake();
    await settled();
    expect(harness.automatic.length).toBeGreaterThan(5);
    expect(harness.requested).toEqual(['a', 'a', ...harness.automatic]);
  });

  test('reopens the stream when the watches change, and only then', async () => {
    const harness = new LiveHarness();
    const first = harness.client.acquire('a');
    await harness.pass(50);
    harness.client.acquire('b').release();
    first.release();
    harness.client.acquire('c');
    await harness.pass(50);
    expect(harness.streams.map(({ watches, isClosed }) => [watches, isClosed])).toEqual([
      [['a'], true],
      [['c'], false],
    ]);
  });

  test('is polled when the stream is full', async () => {
    const harness = new LiveHarness();
    for (const name of 'abcdefg') harness.client.acquire(name);
    await harness.pass(50);
    expect(harness.stream.watches).toEqual('abcdef'.split(''));
    harness.requested.length = 0;
    await harness.pass(5_000);
    expect(harness.requested).toContain('g');
  });
});

describe('when the connection is lost', () => {
  async function lost(): Promise<{ readonly harness: LiveHarness; readonly view: () => unknown }> {
    const harness = new LiveHarness();
    const { view } = harness.client.acquire('overview');
    await harness.pass(50);
    harness.stream.listener.opened();
    harness.stream.listener.failed(false);
    return { harness, view: () => view.value };
  }

  test('the data stays, and its state is reconnecting', async () => {
    const { harness, view } = await lost();
    expect(view()).toMatchObject({ data: 'response of overview', state: 'reconnecting' });
    expect(harness.client.connection.value).toBe('reconnecting');
  });

  test('the stream is opened again after 1, 2, 4 seconds', async () => {
    const { harness } = await lost();
    for (const wait of [1_000, 2_000, 4_000]) {
      const before = harness.streams.length;
      await harness.pass(wait - 1);
      expect(harness.streams).toHaveLength(before);
      await harness.pass(1);
      expect(harness.streams).toHaveLength(before + 1);
      harness.stream.listener.failed(false);
    }
  });

  test('the page polls meanwhile, and without a response the old data stays', async () => {
    const { harness, view } = await lost();
    harness.answer = () => {
      throw new ApiError(0, 'no_answer', 'The service does not answer.');
    };
    harness.requested.length = 0;
    for (let failures = 0; failures < 3; failures += 1) {
      await harness.pass(6_000);
      harness.stream.listener.failed(false);
    }
    await harness.pass(6_000);
    expect(harness.requested).not.toEqual([]);
    expect(view()).toMatchObject({
      data: 'response of overview',
      state: 'stale',
      error: { code: 'no_answer' },
    });
  });
});

test('a page whose stream is refused polls, without a sign of a problem', async () => {
  const harness = new LiveHarness();
  const { view } = harness.client.acquire('overview');
  await harness.pass(50);
  harness.stream.listener.failed(true);
  expect(harness.client.connection.value).toBe('polling');
  expect(view.value.state).toBe('live');
});

test('a hidden page pauses, and reloads at once when it is visible again', async () => {
  const harness = new LiveHarness();
  harness.client.acquire('overview');
  await harness.pass(50);
  harness.isHidden = true;
  harness.client.wake();
  expect(harness.stream.isClosed).toBe(true);
  harness.requested.length = 0;
  await harness.pass(600_000);
  expect(harness.requested).toEqual([]);
  harness.isHidden = false;
  harness.client.wake();
  expect(harness.requested).toEqual(['overview']);
  expect(harness.stream.isClosed).toBe(false);
});

test('the error of a GET is kept when the stream refuses the same watch', async () => {
  const harness = new LiveHarness();
  const refusal = new ApiError(400, 'invalid_cursor', 'The cursor is not one of this list.');
  harness.answer = () => {
    throw refusal;
  };
  const { view } = harness.client.acquire('deliveries?cursor=x');
  await harness.pass(50);
  harness.stream.listener.refused('deliveries?cursor=x', 400, 'invalid_cursor');
  expect(view.value.error).toBe(refusal);
});

test('a refused watch shows its error and leaves the stream, and a missing session signs out', async () => {
  const harness = new LiveHarness();
  const { view } = harness.client.acquire('deliveries/1');
  harness.client.acquire('keys');
  await harness.pass(50);
  harness.stream.listener.refused('deliveries/1', 404, 'not_found');
  expect(view.value).toMatchObject({ data: null, error: { code: 'not_found' } });
  harness.stream.listener.failed(false);
  await harness.pass(1_000);
  expect(harness.stream.watches).toEqual(['keys']);
  harness.stream.listener.refused('keys', 401, 'not_signed_in');
  expect(harness.isSignedOut).toBe(true);
  expect(harness.stream.isClosed).toBe(true);
});
