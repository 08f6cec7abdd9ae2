/** What is near due and not to be dispatched here, or by a process that dispatches nothing: others are told. */
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { SCAN_AHEAD_MS } from '#src/engine/queue/due-queue.ts';
import type { Hints, Peers } from '#src/ports/hints.ts';
import type { Clock } from '#src/ports/system.ts';

/** For a process that has its store to itself. */
export const NO_PEERS: Peers = { due: () => {}, rescan: () => {}, slotsChanged: () => {} };

export class PeerHints implements Hints {
  readonly #peers: Peers;
  readonly #clock: Clock;

  constructor(peers: Peers, clock: Clock) {
    this.#peers = peers;
    this.#clock = clock;
  }

  /** What is further away is found in time by looking. */
  due(due: DueDelivery | null): void {
    if (due !== null && due.dueAt <= this.#clock.now() + SCAN_AHEAD_MS) this.#peers.due(due);
  }

  rescan(): void {
    this.#peers.rescan();
  }
}
