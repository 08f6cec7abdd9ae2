import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import type { Timers } from '#src/ports/timers.ts';
import { systemTimers } from '#src/system/timers.ts';
import { Pauses, pausesOf } from './pauses.ts';

const PIECE_MS = 2;
const WORKERS = 40;

function work(): void {
  const beganAt = systemTimers.elapsed();
  while (systemTimers.elapsed() - beganAt < PIECE_MS);
}

test('however many work in pieces, the network has its turn after each of them', async () => {
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
  for (let tries = 0; tries < 20; tries++) {
    const before = pieces;
    socket.write('x');
    await new Promise((resolve) => socket.once('data', resolve));
    waits.push(pieces - before);
  }
  stop.abort();
  await Promise.all(workers);
  socket.destroy();
  server.close();
  // There and back are two turns of the network; on a busy machine a few more.
  expect(waits.toSorted((a, b) => a - b)[10]).toBeLessThan(10);
});

test('all who go by the same timers pause together', () => {
  expect(pausesOf(systemTimers)).toBe(pausesOf(systemTimers));
});

test('customers take turns, and each is served in its order', async () => {
  const due: (() => void)[] = [];
  const timers: Timers = {
    after(_ms, act) {
      due.push(act);
      return () => {};
    },
  };
  const pauses = new Pauses(timers);
  const wentOn: string[] = [];
  const pause = (customer: string, name: string) => void pauses.pause(customer).then(() => wentOn.push(name));
  for (let n = 0; n < 1_000; n++) pause('many pages', `page ${n}`);
  pause('a create', 'create 1');
  pause('a create', 'create 2');
  for (let act = due.shift(); act !== undefined; act = due.shift()) {
    act();
    await Promise.resolve();
  }
  expect(wentOn.slice(0, 5)).toEqual(['page 0', 'create 1', 'page 1', 'create 2', 'page 2']);
  expect([wentOn.length, wentOn.at(-1)]).toEqual([1_002, 'page 999']);
});
