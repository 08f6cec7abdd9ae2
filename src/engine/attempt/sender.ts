/** Sends one request, and ends it when its time is over or the engine stops. */
import type { FailureCode } from '#src/domain/failures.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { OutboundRequest, SendResult } from '#src/ports/egress.ts';

export class Sender {
  readonly #dependencies: Pick<EngineDependencies, 'egress' | 'timers'>;
  /** The functions that interrupt the requests in flight. */
  readonly #inFlight = new Set<(failure: FailureCode) => void>();

  constructor(dependencies: Pick<EngineDependencies, 'egress' | 'timers'>) {
    this.#dependencies = dependencies;
  }

  send(
    request: OutboundRequest,
    timeoutMs: number,
    onConnected: (wasOpen: boolean) => void,
  ): Promise<SendResult> {
    const { egress, timers } = this.#dependencies;
    const { promise, resolve } = Promise.withResolvers<SendResult>();
    let drop = () => {};
    const end = (result: SendResult) => {
      if (!this.#inFlight.delete(interrupt)) return;
      cancelTimer();
      if (result.kind === 'answered' && result.excerpt !== undefined)
        this.#watchExcerpt(result.excerpt, () => drop());
      resolve(result);
    };
    const interrupt = (failure: FailureCode) => {
      end({ kind: 'failed', failure });
      drop();
    };
    const cancelTimer = timers.after(timeoutMs, () => interrupt('timeout'));
    this.#inFlight.add(interrupt);
    try {
      drop = egress.send(request, end, onConnected);
    } catch {
      end({ kind: 'failed', failure: 'egress_error' });
    }
    return promise;
  }

  /** An interrupt ends the excerpt of an answer with what was read. */
  #watchExcerpt(excerpt: Promise<unknown>, end: () => void): void {
    this.#inFlight.add(end);
    void excerpt.then(() => this.#inFlight.delete(end));
  }

  /** Interrupts all requests in flight. */
  interrupt(): void {
    for (const interrupt of this.#inFlight) interrupt('interrupted');
  }
}
