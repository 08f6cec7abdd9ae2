import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
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
      await pauses.pause();
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
