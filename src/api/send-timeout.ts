/**
 * Closes the connection of a client that does not read its answer. Otherwise the answer would stay in memory
 * for as long as the client likes. All connections are checked at intervals, because a timer for each answer
 * would be a cost on every request.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import type { Timers } from '#src/ports/system.ts';

/** A client must read at least some bytes of its answer within this time. */
export const SEND_TIMEOUT_MS = 30_000;
export const CHECK_MS = 5_000;

interface Progress {
  readBytes: number;
  idleMs: number;
}

export class SendTimeout {
  readonly #connections = new Map<Socket, Progress>();
  readonly #check: PeriodicTask;

  constructor(timers: Timers) {
    this.#check = new PeriodicTask(timers, () => {
      for (const [socket, progress] of this.#connections) check(socket, progress);
      return CHECK_MS;
    });
  }

  watch(server: Server): void {
    server.on('connection', (socket) => {
      if (this.#connections.size === 0) this.#check.runWithin(CHECK_MS);
      this.#connections.set(socket, { readBytes: 0, idleMs: 0 });
      socket.once('close', () => {
        this.#connections.delete(socket);
        if (this.#connections.size === 0) this.#check.cancel();
      });
    });
  }
}

function check(socket: Socket, progress: Progress): void {
  const readBytes = socket.bytesWritten - socket.writableLength;
  const isIdle = socket.writableLength > 0 && readBytes === progress.readBytes;
  progress.readBytes = readBytes;
  progress.idleMs = isIdle ? progress.idleMs + CHECK_MS : 0;
  if (progress.idleMs >= SEND_TIMEOUT_MS) socket.destroy();
}
