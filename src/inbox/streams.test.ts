import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { Streams } from './streams.ts';

/** As much of a response as a stream uses. */
class Reader extends EventEmitter {
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

function scene() {
  const timers: { readonly ms: number; readonly act: () => void }[] = [];
  const streams = new Streams('life', {
    after(ms, act) {
      const timer = { ms, act };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
  });
  const open = () => {
    const reader = new Reader();
    streams.open(reader as unknown as ServerResponse, {}, []);
    return reader;
  };
  return { streams, timers, open };
}

test('a comment now and then, as long as somebody listens', () => {
  const { timers, open } = scene();
  const reader = open();
  for (let beats = 0; beats < 3; beats++) {
    expect(timers).toMatchObject([{ ms: 15_000 }]);
    timers.shift()?.act();
  }
  expect(reader.written.filter((text) => text.startsWith(':'))).toHaveLength(3);
  reader.end();
  expect(timers).toEqual([]);
});

test('a page that does not read is cut off, the others are not', () => {
  const { streams, open } = scene();
  const [slow, quick] = [open(), open()];
  slow.writableLength = 5 * 1_048_576;
  streams.send({ name: 'cleared', change: 1, data: {} });
  streams.send({ name: 'cleared', change: 2, data: {} });
  expect(slow.isDestroyed).toBe(true);
  expect(quick.isDestroyed).toBe(false);
  expect(quick.written.filter((text) => text.startsWith('id: life-'))).toHaveLength(2);
});

test('only ids of this life count', () => {
  const { streams } = scene();
  expect(streams.seenBy('life-12')).toBe(12);
  for (const id of [null, '', 'life', 'life-', 'life-x', 'other-12', 'life--1', 'life-1e3']) {
    expect(streams.seenBy(id)).toBe(0);
  }
});
