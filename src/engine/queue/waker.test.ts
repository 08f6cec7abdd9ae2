import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { VirtualTime } from '#test/engine-harness.ts';
import { Waker } from './waker.ts';

function setUp() {
  const time = new VirtualTime(instant(1_000_000));
  const waker = new Waker({ clock: time, timers: time });
  const wokenAt: number[] = [];
  return { time, waker, wokenAt, wake: () => void wokenAt.push(time.elapsed()) };
}

test('many requests to wake soon wake once', async () => {
  const { time, waker, wokenAt, wake } = setUp();
  waker.start(wake);
  for (let n = 0; n < 10; n++) waker.soon();
  await time.settled();
  expect(wokenAt).toEqual([0]);
  waker.soon();
  await time.settled();
  expect(wokenAt).toEqual([0, 0]);
});

test('an earlier instant replaces a later one, and a later one does not delay an earlier one', async () => {
  const { time, waker, wokenAt, wake } = setUp();
  waker.start(wake);
  waker.noLaterThan(instant(time.now() + 500));
  waker.noLaterThan(instant(time.now() + 200));
  waker.noLaterThan(instant(time.now() + 300));
  await time.advance(1_000);
  expect(wokenAt).toEqual([200]);
});

test('an instant that has passed wakes at once', async () => {
  const { time, waker, wokenAt, wake } = setUp();
  waker.start(wake);
  waker.noLaterThan(instant(time.now() - 1));
  await time.settled();
  expect(wokenAt).toEqual([0]);
});

test('a far instant wakes once a minute, because the clock may be set', async () => {
  const { time, waker, wokenAt, wake } = setUp();
  waker.start(wake);
  waker.sleepUntil(instant(time.now() + 86_400_000));
  await time.advance(60_000);
  expect(wokenAt).toEqual([60_000]);
});

test('it wakes neither before its start nor after its stop, and leaves no timer behind', async () => {
  const { time, waker, wokenAt, wake } = setUp();
  waker.soon();
  await time.settled();
  waker.start(wake);
  waker.sleepUntil(instant(time.now() + 100));
  waker.soon();
  waker.stop();
  await time.advance(1_000);
  expect([wokenAt, time.pending]).toEqual([[], 0]);
});
