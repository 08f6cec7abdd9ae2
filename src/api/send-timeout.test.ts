import { EventEmitter, once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Timers } from '#src/ports/system.ts';
import { CHECK_MS, SEND_TIMEOUT_MS, SendTimeout } from './send-timeout.ts';

const PIECE = Buffer.alloc(65_536, 'x');
/** More than the system buffers for a client that reads nothing. */
const PIECES = 1_600;
const CHECKS = SEND_TIMEOUT_MS / CHECK_MS;

function scriptedTimers() {
  const set = new Set<() => void>();
  const timers: Timers = {
    after(ms, act) {
      expect(ms).toBe(CHECK_MS);
      set.add(act);
      return () => void set.delete(act);
    },
  };
  const check = (times: number) => {
    for (let n = 0; n < times; n++) {
      const due = [...set];
      set.clear();
      for (const act of due) act();
    }
  };
  return { timers, check, timersSet: () => set.size };
}

/** A socket with written bytes, of which some were not sent yet. */
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
  const clock = scriptedTimers();
  const server = new EventEmitter();
  new SendTimeout(clock.timers).watch(server as Server);
  const connection = new Connection();
  server.emit('connection', connection);
  return { connection, ...clock };
}

test('a client that reads nothing of its answer is disconnected after half a minute', () => {
  const { connection, check, timersSet } = openConnection();
  check(10);
  Object.assign(connection, { bytesWritten: 900, writableLength: 500 });
  // The first check only records the progress.
  check(CHECKS);
  expect(connection.isDestroyed).toBe(false);
  check(1);
  expect(connection.isDestroyed).toBe(true);
  expect(timersSet()).toBe(0);
});

test('a client that reads some bytes from time to time is not disconnected', () => {
  const { connection, check } = openConnection();
  Object.assign(connection, { bytesWritten: 90_000, writableLength: 80_000 });
  for (let times = 0; times < 10; times++) {
    check(CHECKS);
    connection.writableLength -= 1;
  }
  // The client has read everything so far, and more is written.
  Object.assign(connection, { bytesWritten: 90_001 });
  check(CHECKS);
  expect(connection.isDestroyed).toBe(false);
});

test('a client that has read its answer may keep its connection', () => {
  const { connection, check, timersSet } = openConnection();
  Object.assign(connection, { bytesWritten: 900, writableLength: 0 });
  check(10 * CHECKS);
  expect([connection.isDestroyed, timersSet()]).toEqual([false, 1]);
  connection.emit('close');
  expect(timersSet()).toBe(0);
});

function* pieces(): Generator<Buffer> {
  for (let n = 0; n < PIECES; n++) yield PIECE;
}

test('on a real server an answer that the client does not read is dropped', async () => {
  const { timers, check } = scriptedTimers();
  const answers: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    answers.push(response);
    Readable.from(pieces(), { objectMode: false }).pipe(response);
  });
  new SendTimeout(timers).watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const client = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1');
  client.on('error', () => {});
  client.pause().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const isDropped = () => {
    check(1);
    return answers[0]?.closed === true && !answers[0].writableFinished;
  };
  await expect.poll(isDropped, { timeout: 30_000, interval: 20 }).toBe(true);
  client.destroy();
  server.close();
});
