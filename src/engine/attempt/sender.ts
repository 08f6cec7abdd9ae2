/** Sends one request, and ends it when its time is over or the engine stops. */

import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import type { Exchange } from './outcome.ts';

export class Sender {
  readonly #dependencies: Pick<EngineDependencies, 'egress' | 'timers'>;
  /** The functions that interrupt the requests in flight. */
  readonly #inFlight = new Set<(why: Exchange) => void>();

  constructor(dependencies: Pick<EngineDependencies, 'egress' | 'timers'>) {
    this.#dependencies = dependencies;
  }

  send(
    request: OutboundRequest,
    timeoutMs: number,
    onConnected: (wasOpen: boolean) => void,
  ): Promise<Exchange> {
    const { egress, timers } = this.#dependencies;
    const { promise, resolve } = Promise.withResolvers<Exchange>();
    let drop = () => {};
    const end = (exchange: Exchange) => {
      if (!this.#inFlight.delete(interrupt)) return;
      cancelTimer();
      resolve(exchange);
    };
    const interrupt = (why: Exchange) => {
      end(why);
      drop();
    };
    const cancelTimer = timers.after(timeoutMs, () => interrupt({ kind: 'timed_out' }));
    this.#inFlight.add(interrupt);
    try {
      drop = egress.send(request, end, onConnected);
    } catch {
      end({ kind: 'failed', why: 'internal error' });
    }
    return promise;
  }

  /** Interrupts all requests in flight. */
  interrupt(): void {
    for (const interrupt of this.#inFlight) interrupt({ kind: 'interrupted' });
  }
}
