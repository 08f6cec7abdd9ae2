/** Hints of a process that runs no engine. Nodes send theirs in `queue/work-queue.ts`, and `Engine.heard` receives. */
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { Hints, Peers } from '#src/ports/hints.ts';
import type { Clock } from '#src/ports/system.ts';

/** Peers of a process that has its store to itself. */
export const NO_PEERS: Peers = { due: () => {}, rescan: () => {}, slotsChanged: () => {} };

/** Forwards the hints to the nodes. A process with the API role only uses it. */
export class HintForwarder implements Hints {
  readonly #peers: Peers;
  readonly #clock: Clock;
  readonly #aheadMs: number;

  /** `aheadMs`: how far ahead the scans look. */
  constructor(peers: Peers, clock: Clock, aheadMs: number) {
    this.#peers = peers;
    this.#clock = clock;
    this.#aheadMs = aheadMs;
  }

  /** A delivery that is due later needs no hint, because the scan of its node finds it in time. */
  due(due: DueDelivery | null): void {
    if (due !== null && due.dueAt <= this.#clock.now() + this.#aheadMs) this.#peers.due(due);
  }

  rescan(): void {
    this.#peers.rescan();
  }
}
