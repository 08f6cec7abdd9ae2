/** Time goes by when it is told to. */
import { EventEmitter, once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Timers } from '#src/ports/system.ts';
import { LOOK_MS, UNTAKEN_MS_MAX, UntakenAnswers } from './untaken-answers.ts';

const PIECE = Buffer.alloc(65_536, 'x');
/** More than the system takes on behalf of a client that reads nothing. */
const PIECES = 1_600;
const LOOKS = UNTAKEN_MS_MAX / LOOK_MS;

function handTimers() {
  const set = new Set<() => void>();
  const timers: Timers = {
    after(ms, act) {
      expect(ms).toBe(LOOK_MS);
      set.add(act);
      return () => void set.delete(act);
    },
  };
  const look = (times: number) => {
    for (let n = 0; n < times; n++) {
      const due = [...set];
      set.clear();
      for (const act of due) act();
    }
  };
  return { timers, look, timersSet: () => set.size };
}

/** A connection with so many bytes handed over, of which some were not taken yet. */
class Connection extends EventEmitter {
  bytesWritten = 0;
  writableLength = 0;
  isDestroyed = false;

  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }
}

function openConnection() {
  const clock = handTimers();
  const server = new EventEmitter();
  new UntakenAnswers(clock.timers).watch(server as Server);
  const connection = new Connection();
  server.emit('connection', connection);
  return { connection, ...clock };
}

test('a client that takes nothing of its answer is cut off after half a minute', () => {
  const { connection, look, timersSet } = openConnection();
  look(10);
  Object.assign(connection, { bytesWritten: 900, writableLength: 500 });
  // The first look sees how far it has come.
  look(LOOKS);
  expect(connection.isDestroyed).toBe(false);
  look(1);
  expect(connection.isDestroyed).toBe(true);
  expect(timersSet()).toBe(0);
});

test('a client that takes some of it from time to time is not', () => {
  const { connection, look } = openConnection();
  Object.assign(connection, { bytesWritten: 90_000, writableLength: 80_000 });
  for (let times = 0; times < 10; times++) {
    look(LOOKS);
    connection.writableLength -= 1;
  }
  // It has taken what it was given, and is given more.
  Object.assign(connection, { bytesWritten: 90_001 });
  look(LOOKS);
  expect(connection.isDestroyed).toBe(false);
});

test('a client that has taken its answer may keep its connection', () => {
  const { connection, look, timersSet } = openConnection();
  Object.assign(connection, { bytesWritten: 900, writableLength: 0 });
  look(10 * LOOKS);
  expect([connection.isDestroyed, timersSet()]).toEqual([false, 1]);
  connection.emit('close');
  expect(timersSet()).toBe(0);
});

function* pieces(): Generator<Buffer> {
  for (let n = 0; n < PIECES; n++) yield PIECE;
}

test('on a real server the answer that nobody takes is given up', async () => {
  const { timers, look } = handTimers();
  const answers: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    answers.push(response);
    Readable.from(pieces(), { objectMode: false }).pipe(response);
  });
  new UntakenAnswers(timers).watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const client = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1');
  client.on('error', () => {});
  client.pause().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const isGivenUp = () => {
    look(1);
    return answers[0]?.closed === true && !answers[0].writableFinished;
  };
  await expect.poll(isGivenUp, { timeout: 30_000, interval: 20 }).toBe(true);
  client.destroy();
  server.close();
});
