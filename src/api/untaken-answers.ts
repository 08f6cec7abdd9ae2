/**
 * Connections whose client takes nothing of its answer. The answer would stay in memory for as long as the client
 * likes, so the connection is closed. All connections are looked at from time to time: a timer for each answer would
 * be a cost on every request.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import type { Timers } from '#src/ports/system.ts';

/** A client takes something of its answer within this time. */
export const UNTAKEN_MS_MAX = 30_000;
export const LOOK_MS = 5_000;

interface Progress {
  takenBytes: number;
  idleMs: number;
}

export class UntakenAnswers {
  readonly #connections = new Map<Socket, Progress>();
  readonly #check: PeriodicTask;

  constructor(timers: Timers) {
    this.#check = new PeriodicTask(timers, () => {
      for (const [socket, progress] of this.#connections) look(socket, progress);
      return LOOK_MS;
    });
  }

  watch(server: Server): void {
    server.on('connection', (socket) => {
      if (this.#connections.size === 0) this.#check.runWithin(LOOK_MS);
      this.#connections.set(socket, { takenBytes: 0, idleMs: 0 });
      socket.once('close', () => {
        this.#connections.delete(socket);
        if (this.#connections.size === 0) this.#check.cancel();
      });
    });
  }
}

function look(socket: Socket, progress: Progress): void {
  const takenBytes = socket.bytesWritten - socket.writableLength;
  const isIdle = socket.writableLength > 0 && takenBytes === progress.takenBytes;
  progress.takenBytes = takenBytes;
  progress.idleMs = isIdle ? progress.idleMs + LOOK_MS : 0;
  if (progress.idleMs >= UNTAKEN_MS_MAX) socket.destroy();
}
