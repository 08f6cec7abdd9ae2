/**
 * The types of a delivery on its way, by stage (the steps are in `docs/architecture.md`):
 *
 * 1. `DueDelivery` (`domain/due-delivery.ts`): its id, instant and endpoint wait in the queues.
 * 2. `LoadedDelivery` (`ports/store.ts`): its row was read, with its schedule, endpoint profile and gate.
 * 3. `CandidateDelivery`: the gate can decide about it now.
 * 4. `DecidedDelivery`: it is claimed (`ClaimedDelivery`), ended or deferred, by a conditional write.
 * 5. `JudgedAttempt` (`attempt/judged-attempt.ts`): its request was answered, or failed.
 * 6. `SettleWrite` (`ports/store.ts`): what the store keeps of the attempt.
 */
import type { Attempt } from '#src/domain/delivery.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { ClaimWrite, LoadedDelivery } from '#src/ports/store.ts';
import type { Draft, Unsendable } from './attempt/request-builder.ts';

export interface CandidateDelivery {
  readonly due: DueDelivery;
  /** The epoch of its slot in which it was read. */
  readonly epoch: number;
  readonly loaded: LoadedDelivery;
  /** Null where the payload has not been read yet. */
  readonly draft: Draft | Unsendable | null;
  /** Whether it was read before its instant. */
  readonly isPrefetched: boolean;
}

export interface DecidedDelivery<Write> {
  readonly due: DueDelivery;
  /** The epoch of its slot in which this was decided. */
  readonly epoch: number;
  /** Whether the decision used data that was read before its instant. */
  readonly isPrefetched: boolean;
  readonly write: Write;
  /** Whether a token of its gate was taken for it. */
  readonly hasToken: boolean;
}

/** It has no draft, which would keep the body in memory until the attempt is settled. */
export interface ClaimedDelivery extends DecidedDelivery<ClaimWrite> {
  readonly attempt: Attempt;
  readonly loaded: LoadedDelivery;
  /** The end of the breaker's window that this attempt probes; null for an attempt that is no probe. */
  readonly probeOf: Instant | null;
}
