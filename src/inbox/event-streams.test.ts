import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { EventStreams } from './event-streams.ts';

/** The part of a response that a stream uses. */
class FakeResponse extends EventEmitter {
  readonly written: string[] = [];
  writableLength = 0;
  isDestroyed = false;

  writeHead(): void {}

  write(text: string): void {
    this.written.push(text);
  }

  end(): void {
    this.emit('close');
  }

  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }
}

function setUp() {
  const timers: { readonly ms: number; readonly act: () => void }[] = [];
  const streams = new EventStreams('run', {
    after(ms, act) {
      const timer = { ms, act };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
  });
  const open = () => {
    const response = new FakeResponse();
    streams.open(response as unknown as ServerResponse, {}, []);
    return response;
  };
  return { streams, timers, open };
}

test('a comment is sent at each heartbeat while a page is open', () => {
  const { timers, open } = setUp();
  const response = open();
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
  const [slow, quick] = [open(), open()];
  slow.writableLength = 5 * 1_048_576;
  streams.send({ name: 'cleared', version: 1, data: {} });
  streams.send({ name: 'cleared', version: 2, data: {} });
  expect(slow.isDestroyed).toBe(true);
  expect(quick.isDestroyed).toBe(false);
  expect(quick.written.filter((text) => text.startsWith('id: run-'))).toHaveLength(2);
});

test('only event ids of this run count', () => {
  const { streams } = setUp();
  expect(streams.seenVersion('run-12')).toBe(12);
  for (const id of [null, '', 'run', 'run-', 'run-x', 'other-12', 'run--1', 'run-1e3']) {
    expect(streams.seenVersion(id)).toBe(0);
  }
});
