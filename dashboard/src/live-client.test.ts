/** On a clock that is moved by hand, with streams that the test holds the other end of. */
import { describe, expect, test } from 'vitest';
import { ApiError } from './api.ts';
import { LiveClient, type LiveListener } from './live-client.ts';

interface Stream {
  readonly watches: readonly string[];
  readonly listener: LiveListener;
  isClosed: boolean;
}

class World {
  readonly streams: Stream[] = [];
  readonly asked: string[] = [];
  /** Paths that were marked as automatic. */
  readonly automatic: string[] = [];
  isHidden = false;
  isSignedOut = false;
  answer: (path: string) => unknown = (path) => `answer of ${path}`;
  #now = 0;
  #timers: { readonly at: number; readonly action: () => void }[] = [];

  readonly client = new LiveClient({
    get: async (path, isAutomatic) => {
      this.asked.push(path);
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
    signedOut: () => {
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

/** Every promise that can go on has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve));
}

describe('a page that is watched', () => {
  test('is painted by a plain request, then kept by one stream for all of its parts', async () => {
    const world = new World();
    const { view } = world.client.acquire('overview');
    world.client.acquire('keys');
    expect(view.value.state).toBe('loading');
    await world.pass(50);
    expect(view.value).toMatchObject({ data: 'answer of overview', state: 'live' });
    expect(world.streams.map(({ watches }) => watches)).toEqual([['overview', 'keys']]);
    world.stream.listener.opened();
    world.stream.listener.data('overview', 'newer');
    expect(view.value.data).toBe('newer');
    expect(world.client.connection.value).toBe('live');
  });

  test('does not let a slow first answer replace what the stream brought', async () => {
    const world = new World();
    let answerNow: (value: unknown) => void = () => undefined;
    world.answer = () => new Promise((resolve) => (answerNow = resolve));
    const { view } = world.client.acquire('overview');
    await world.pass(50);
    world.stream.listener.data('overview', 'newer');
    answerNow('older');
    await settled();
    expect(view.value.data).toBe('newer');
  });

  test('marks what it asks for by itself, and nothing that somebody did', async () => {
    const world = new World();
    world.client.acquire('a');
    await world.pass(50);
    await world.client.refresh();
    expect([world.asked, world.automatic]).toEqual([['a', 'a'], []]);
    await world.pass(120_000);
    world.stream.listener.failed(false);
    await world.pass(120_000);
    world.client.wake();
    await settled();
    expect(world.automatic.length).toBeGreaterThan(5);
    expect(world.asked).toEqual(['a', 'a', ...world.automatic]);
  });

  test('opens another stream when what is watched changes, and none when nothing is', async () => {
    const world = new World();
    const first = world.client.acquire('a');
    await world.pass(50);
    world.client.acquire('b').release();
    first.release();
    world.client.acquire('c');
    await world.pass(50);
    expect(world.streams.map(({ watches, isClosed }) => [watches, isClosed])).toEqual([
      [['a'], true],
      [['c'], false],
    ]);
  });

  test('asks for what one stream cannot hold', async () => {
    const world = new World();
    for (const name of 'abcdefg') world.client.acquire(name);
    await world.pass(50);
    expect(world.stream.watches).toEqual('abcdef'.split(''));
    world.asked.length = 0;
    await world.pass(5_000);
    expect(world.asked).toContain('g');
  });
});

describe('when the connection is lost', () => {
  async function lost(): Promise<{ readonly world: World; readonly view: () => unknown }> {
    const world = new World();
    const { view } = world.client.acquire('overview');
    await world.pass(50);
    world.stream.listener.opened();
    world.stream.listener.failed(false);
    return { world, view: () => view.value };
  }

  test('what is shown stays, and it is said that it may be old', async () => {
    const { world, view } = await lost();
    expect(view()).toMatchObject({ data: 'answer of overview', state: 'reconnecting' });
    expect(world.client.connection.value).toBe('reconnecting');
  });

  test('it is opened again after 1, 2, 4 seconds', async () => {
    const { world } = await lost();
    for (const wait of [1_000, 2_000, 4_000]) {
      const before = world.streams.length;
      await world.pass(wait - 1);
      expect(world.streams).toHaveLength(before);
      await world.pass(1);
      expect(world.streams).toHaveLength(before + 1);
      world.stream.listener.failed(false);
    }
  });

  test('it is asked by plain requests meanwhile; without an answer the old one stays', async () => {
    const { world, view } = await lost();
    world.answer = () => {
      throw new ApiError(0, 'no_answer', 'The service does not answer.');
    };
    world.asked.length = 0;
    for (let failures = 0; failures < 3; failures += 1) {
      await world.pass(6_000);
      world.stream.listener.failed(false);
    }
    await world.pass(6_000);
    expect(world.asked).not.toEqual([]);
    expect(view()).toMatchObject({
      data: 'answer of overview',
      state: 'stale',
      error: { code: 'no_answer' },
    });
  });
});

test('where streams are refused it is asked every 5 s, and nobody is alarmed', async () => {
  const world = new World();
  const { view } = world.client.acquire('overview');
  await world.pass(50);
  world.stream.listener.failed(true);
  expect(world.client.connection.value).toBe('polling');
  expect(view.value.state).toBe('live');
});

test('a hidden page rests, and asks at once when it is seen again', async () => {
  const world = new World();
  world.client.acquire('overview');
  await world.pass(50);
  world.isHidden = true;
  world.client.wake();
  expect(world.stream.isClosed).toBe(true);
  world.asked.length = 0;
  await world.pass(600_000);
  expect(world.asked).toEqual([]);
  world.isHidden = false;
  world.client.wake();
  expect(world.asked).toEqual(['overview']);
  expect(world.stream.isClosed).toBe(false);
});

test('what a plain request was told of a refusal is kept', async () => {
  const world = new World();
  const told = new ApiError(400, 'invalid_cursor', 'The cursor is not one of this list.');
  world.answer = () => {
    throw told;
  };
  const { view } = world.client.acquire('deliveries?cursor=x');
  await world.pass(50);
  world.stream.listener.refused('deliveries?cursor=x', 400, 'invalid_cursor');
  expect(view.value.error).toBe(told);
});

test('a watch that is refused says so and is watched no more; one without a session signs out', async () => {
  const world = new World();
  const { view } = world.client.acquire('deliveries/1');
  world.client.acquire('keys');
  await world.pass(50);
  world.stream.listener.refused('deliveries/1', 404, 'not_found');
  expect(view.value).toMatchObject({ data: null, error: { code: 'not_found' } });
  world.stream.listener.failed(false);
  await world.pass(1_000);
  expect(world.stream.watches).toEqual(['keys']);
  world.stream.listener.refused('keys', 401, 'not_signed_in');
  expect(world.isSignedOut).toBe(true);
  expect(world.stream.isClosed).toBe(true);
});
