/** Records each request that the receiver saw, and its answer. The audits compare it with the database. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour } from '#test/receiver/behaviours.ts';

export interface Received {
  readonly deliveryId: string;
  readonly attemptNo: number;
  readonly key: string;
  /** The arrival by the service's clock, which may be shifted. */
  readonly arrivedAt: number;
  /** Null when it was not answered, or the connection was closed before the answer. */
  answered: number | null;
}

export interface PlannedAnswer {
  readonly status: number;
  /** The delay before the answer. Infinity means never. */
  readonly afterMs: number;
}

export const ANSWER_AT_ONCE: PlannedAnswer = { status: 200, afterMs: 0 };

export class Ledger {
  readonly received: Received[] = [];
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  behaviour(
    plan: (deliveryId: string, attemptNo: number) => PlannedAnswer | Promise<PlannedAnswer>,
  ): Behaviour {
    return {
      act: async ({ request, response }) => {
        const received = this.#record(request);
        const { status, afterMs } = await plan(received.deliveryId, received.attemptNo);
        if (afterMs === Number.POSITIVE_INFINITY) return;
        if (afterMs > 0) await sleep(afterMs);
        if (request.socket.destroyed) return;
        received.answered = status;
        response.writeHead(status).end();
      },
    };
  }

  #record({ headers }: IncomingMessage): Received {
    const received: Received = {
      deliveryId: String(headers['sched-delivery-id']),
      attemptNo: Number(headers['sched-attempt']),
      key: String(headers['idempotency-key']),
      arrivedAt: this.#now(),
      answered: null,
    };
    this.received.push(received);
    return received;
  }
}
