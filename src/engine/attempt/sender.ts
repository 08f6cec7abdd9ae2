/** One HTTP attempt: the request, and the time it may take. */

import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import type { Exchange } from './outcome.ts';

export class Sender {
  readonly #dependencies: Pick<EngineDependencies, 'egress' | 'timers'>;
  /** How each request under way is broken off. */
  readonly #underWay = new Set<(why: Exchange) => void>();

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
      if (!this.#underWay.delete(breakOff)) return;
      callOff();
      resolve(exchange);
    };
    const breakOff = (why: Exchange) => {
      end(why);
      drop();
    };
    const callOff = timers.after(timeoutMs, () => breakOff({ kind: 'timed_out' }));
    this.#underWay.add(breakOff);
    try {
      drop = egress.send(request, end, onConnected);
    } catch {
      end({ kind: 'failed', why: 'internal error' });
    }
    return promise;
  }

  /** Breaks off everything under way. */
  interrupt(): void {
    for (const breakOff of this.#underWay) breakOff({ kind: 'interrupted' });
  }
}
