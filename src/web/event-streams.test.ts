import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { EventStreams, STREAMS_MAX, STREAMS_PER_OWNER_MAX, type StreamOptions } from './event-streams.ts';

/** The part of a response that a stream uses. */
class FakeResponse extends EventEmitter {
  readonly written: string[] = [];
  writableLength = 0;
  isDestroyed = false;

  writeHead(): void {}

  write(text: string): void {
    this.written.push(text);
  }

  end(text?: string): void {
    if (text !== undefined) this.written.push(text);
    this.emit('close');
  }

  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }
}

function setUp() {
  const timers: { readonly ms: number; readonly act: () => void }[] = [];
  const streams = new EventStreams({
    after(ms, act) {
      const timer = { ms, act };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
  });
  const open = (options: Partial<StreamOptions> = {}) => {
    const response = new FakeResponse();
    const stream = streams.open(response as unknown as ServerResponse, { headers: {}, ...options });
    return { response, stream };
  };
  return { streams, timers, open };
}

test('a comment is sent at each heartbeat while a page is open', () => {
  const { timers, open } = setUp();
  const { response } = open();
  for (let count = 0; count < 3; count++) {
    expect(timers).toMatchObject([{ ms: 15_000 }]);
    timers.shift()?.act();
  }
  expect(response.written.filter((text) => text.startsWith(':'))).toHaveLength(3);
  response.end();
  expect(timers).toEqual([]);
});

test('a page that does not read is disconnected, and the others are not', () => {
  const { streams, open } = setUp();
  const [{ response: slow }, { response: quick }] = [open(), open()];
  slow.writableLength = 2 * 1_048_576;
  streams.send({ name: 'cleared', data: '{}', id: '1' });
  streams.send({ name: 'cleared', data: '{}', id: '2' });
  expect(slow.isDestroyed).toBe(true);
  expect(slow.written).toEqual(['retry: 1000\n\n']);
  expect(quick.isDestroyed).toBe(false);
  expect(quick.written.slice(1)).toEqual([
    'id: 1\nevent: cleared\ndata: {}\n\n',
    'id: 2\nevent: cleared\ndata: {}\n\n',
  ]);
});

test('a page begins with its first events, however many they are', () => {
  const { open } = setUp();
  const first = Array.from({ length: 200 }, () => ({ name: 'arrival', data: `"${'x'.repeat(10_000)}"` }));
  const { response } = open({ first });
  expect(response.written).toHaveLength(1);
  expect(response.written[0]?.match(/^event: arrival$/gm)).toHaveLength(200);
});

test('a page beyond the limit is told so, and a page that leaves makes room', () => {
  const { open } = setUp();
  const pages = Array.from({ length: STREAMS_MAX }, () => open());
  const refused = open();
  expect(refused.stream).toBeNull();
  expect(refused.response.written).toEqual(['retry: 5000\nevent: full\ndata: 32\n\n']);
  pages[0]?.response.destroy();
  expect(open().stream).not.toBeNull();
});

test('an owner has a limit of its own', () => {
  const { open } = setUp();
  for (let count = 0; count < STREAMS_PER_OWNER_MAX; count++)
    expect(open({ owner: 'a' }).stream).not.toBeNull();
  expect(open({ owner: 'a' }).stream).toBeNull();
  expect(open({ owner: 'b' }).stream).not.toBeNull();
});

test('the end of a stream is reported once, whoever ends it', () => {
  const { streams, open, timers } = setUp();
  const ended: string[] = [];
  const [left, closed] = [open(), open()];
  left.stream?.onEnd(() => ended.push('left'));
  closed.stream?.onEnd(() => ended.push('closed'));
  left.response.destroy();
  streams.end();
  streams.end();
  expect(ended).toEqual(['left', 'closed']);
  expect(timers).toEqual([]);
});
