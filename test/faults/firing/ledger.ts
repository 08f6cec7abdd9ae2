/** What the receiver saw and what it answered, request by request: one side of every comparison. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour } from '#test/receiver/behaviours.ts';

export interface Received {
  readonly deliveryId: string;
  readonly attemptNo: number;
  readonly key: string;
  /** By the clock of the service, which may be a shifted one. */
  readonly arrivedAt: number;
  /** Null: not answered, or its connection was gone by then. */
  answered: number | null;
}

export interface Plan {
  readonly status: number;
  /** Before it is answered; for ever: never. */
  readonly afterMs: number;
}

export const AT_ONCE: Plan = { status: 200, afterMs: 0 };

export class Ledger {
  readonly received: Received[] = [];
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  behaviour(plan: (deliveryId: string, attemptNo: number) => Plan | Promise<Plan>): Behaviour {
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
