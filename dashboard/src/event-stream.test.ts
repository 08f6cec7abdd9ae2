import { expect, test } from 'vitest';
import { EventStream, type StreamListener } from './event-stream.ts';

function setUp(reconnectMsMax: number) {
  const timers: { readonly ms: number; readonly act: () => void }[] = [];
  const opened: StreamListener[] = [];
  const closed: StreamListener[] = [];
  const page = { isHidden: false };
  const stream = new EventStream({
    reconnectMsMax,
    random: () => 0.5,
    isHidden: () => page.isHidden,
    later: (ms, act) => {
      const timer = { ms, act };
      timers.push(timer);
      return () => {
        const at = timers.indexOf(timer);
        if (at >= 0) timers.splice(at, 1);
      };
    },
    connect: (listener) => {
      opened.push(listener);
      return { close: () => void closed.push(listener) };
    },
  });
  return { stream, timers, opened, closed, page };
}

test('a lost stream is opened again, each time later up to the maximum, until one opens', () => {
  const { stream, timers, opened } = setUp(3_000);
  stream.open();
  const waits: number[] = [];
  for (let count = 0; count < 4; count++) {
    opened.at(-1)?.failed(false);
    expect(stream.connection.value).toBe('reconnecting');
    const timer = timers.shift();
    waits.push(timer?.ms ?? 0);
    timer?.act();
  }
  expect(waits).toEqual([1_000, 2_000, 3_000, 3_000]);
  opened.at(-1)?.opened();
  expect(stream.connection.value).toBe('live');
  opened.at(-1)?.failed(false);
  expect(timers).toMatchObject([{ ms: 1_000 }]);
});

test('a hidden page has no stream, and opens it when it is visible again', () => {
  const { stream, opened, closed, page } = setUp(1_000);
  stream.open();
  page.isHidden = true;
  stream.wake();
  expect([stream.isOpen, stream.connection.value]).toEqual([false, 'idle']);
  expect(closed).toEqual(opened);
  page.isHidden = false;
  stream.wake();
  expect([stream.isOpen, opened.length]).toEqual([true, 2]);
});

test('a stream that is opened again closes the one before, and waits for no other', () => {
  const { stream, timers, opened, closed } = setUp(1_000);
  stream.open();
  opened[0]?.failed(false);
  stream.wake();
  expect(timers).toEqual([]);
  stream.open();
  expect(closed).toContain(opened[1]);
  expect(opened).toHaveLength(3);
});

test('a stream that is refused is said to be polled', () => {
  const { stream, opened } = setUp(1_000);
  stream.open();
  opened[0]?.failed(true);
  expect(stream.connection.value).toBe('polling');
});
