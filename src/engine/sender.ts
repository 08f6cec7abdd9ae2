/** One HTTP try: the request, and the time it may take. */
import type { OutboundRequest } from '#src/ports/egress.ts';
import type { Exchange } from './outcome.ts';
import type { EngineWorld } from './world.ts';

export class Sender {
  readonly #world: Pick<EngineWorld, 'egress' | 'timers'>;
  readonly #breakOff = new Set<(why: Exchange) => void>();

  constructor(world: Pick<EngineWorld, 'egress' | 'timers'>) {
    this.#world = world;
  }

  send(request: OutboundRequest, timeoutMs: number): Promise<Exchange> {
    const { egress, timers } = this.#world;
    const abort = new AbortController();
    const { promise, resolve } = Promise.withResolvers<Exchange>();
    const end = (exchange: Exchange) => {
      callOff();
      this.#breakOff.delete(breakOff);
      resolve(exchange);
    };
    const breakOff = (why: Exchange) => {
      end(why);
      abort.abort();
    };
    const callOff = timers.after(timeoutMs, () => breakOff({ kind: 'timed_out' }));
    this.#breakOff.add(breakOff);
    egress.send(request, abort.signal).then(end, () => end({ kind: 'failed', why: 'internal error' }));
    return promise;
  }

  /** Breaks off everything under way. */
  interrupt(): void {
    for (const breakOff of this.#breakOff) breakOff({ kind: 'interrupted' });
  }
}
