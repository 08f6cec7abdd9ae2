/** Hints that go to the other nodes. */
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { SCAN_AHEAD_MS } from '#src/engine/queue/due-queue.ts';
import type { Hints, Peers } from '#src/ports/hints.ts';
import type { Clock } from '#src/ports/system.ts';

/** Peers of a process that has its store to itself. */
export const NO_PEERS: Peers = { due: () => {}, rescan: () => {}, slotsChanged: () => {} };

/** The hints of a process that dispatches nothing itself, such as one with the API role only: it tells the nodes. */
export class PeerHints implements Hints {
  readonly #peers: Peers;
  readonly #clock: Clock;

  constructor(peers: Peers, clock: Clock) {
    this.#peers = peers;
    this.#clock = clock;
  }

  /** A delivery that is due later needs no hint, because the scan of its node finds it in time. */
  due(due: DueDelivery | null): void {
    if (due !== null && due.dueAt <= this.#clock.now() + SCAN_AHEAD_MS) this.#peers.due(due);
  }

  rescan(): void {
    this.#peers.rescan();
  }
}
