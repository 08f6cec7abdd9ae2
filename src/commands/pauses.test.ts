import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { systemTimers } from '#src/system/timers.ts';
import { LONG_PAUSES_WAIVED, Pauses, pausesOf } from './pauses.ts';

const PIECE_MS = 2;
const WORKERS = 40;

function work(): void {
  const beganAt = systemTimers.elapsed();
  while (systemTimers.elapsed() - beganAt < PIECE_MS);
}

test('however many tasks work in pieces, network events are handled after each piece', async () => {
  const pauses = new Pauses(systemTimers);
  const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const socket = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));

  let pieces = 0;
  const stop = new AbortController();
  const workers = Array.from({ length: WORKERS }, async () => {
    while (!stop.signal.aborted) {
      await pauses.pause('a');
      pieces += 1;
      work();
    }
  });
  const waits: number[] = [];
  for (let attempts = 0; attempts < 20; attempts++) {
    const before = pieces;
    socket.write('x');
    await new Promise((resolve) => socket.once('data', resolve));
    waits.push(pieces - before);
  }
  stop.abort();
  await Promise.all(workers);
  socket.destroy();
  server.close();
  // A round trip takes two turns of the event loop, and a few more on a busy machine.
  expect(waits.toSorted((a, b) => a - b)[10]).toBeLessThan(10);
});

test('all users of the same timers share their pauses', () => {
  expect(pausesOf(systemTimers)).toBe(pausesOf(systemTimers));
});

/** Timers that the test fires. */
function plannedTimers() {
  const due: (() => void)[] = [];
  let now = 0;
  const timers: Timers & Stopwatch = {
    after(_ms, act) {
      due.push(act);
      return () => {};
    },
    elapsed: () => now,
  };
  const pass = (ms: number) => {
    now += ms;
  };
  const fireAll = async () => {
    for (let act = due.shift(); act !== undefined; act = due.shift()) {
      act();
      await Promise.resolve();
    }
  };
  return { timers, due, pass, fireAll };
}

test('customers are resumed round robin, and each in its order', async () => {
  const { timers, fireAll } = plannedTimers();
  const pauses = new Pauses(timers);
  const resumed: string[] = [];
  const pause = (customer: string, name: string) =>
    void pauses.pause(customer).then(() => resumed.push(name));
  for (let n = 0; n < 1_000; n++) pause('many pages', `page ${n}`);
  pause('a create', 'create 1');
  pause('a create', 'create 2');
  await fireAll();
  expect(resumed.slice(0, 5)).toEqual(['page 0', 'create 1', 'page 1', 'create 2', 'page 2']);
  expect([resumed.length, resumed.at(-1)]).toEqual([1_002, 'page 999']);
});

test('a customer with few requests has no long pauses, whatever the others request', async () => {
  const short = plannedTimers();
  const long = plannedTimers();
  const pauses = new Pauses(short.timers, long.timers);
  const resumed = { much: 0, little: 0 };
  const pause = (customer: keyof typeof resumed, count: number) => {
    for (let n = 0; n < count; n++) void pauses.pause(customer, 'long').then(() => resumed[customer]++);
  };
  pause('much', 50);
  pause('little', LONG_PAUSES_WAIVED);
  await short.fireAll();
  expect(resumed).toEqual({ much: LONG_PAUSES_WAIVED, little: LONG_PAUSES_WAIVED });
  short.pass(1_000);
  pause('much', 1);
  await short.fireAll();
  expect(resumed.much).toBe(LONG_PAUSES_WAIVED + 1);
  await long.fireAll();
  expect(resumed.much).toBe(51);
});
