/** The values that pass while deliveries are claimed, and the interfaces of those who take part. */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DueDelivery } from '#src/domain/due.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { ClaimWrite, EndWrite, LoadedDelivery } from '#src/ports/store.ts';
import type { Draft, Unsendable } from './attempt/request-builder.ts';
import type { Ready } from './prefetch/prefetcher.ts';

/** A delivery that is to be claimed, and what its attempt will need to know. */
export interface Claiming {
  readonly due: DueDelivery;
  readonly work: LoadedDelivery;
  readonly write: ClaimWrite;
  /** The epoch of its slot in which this was decided. */
  readonly epoch: number;
  /** Whether it took a token at the gate. */
  readonly hasToken: boolean;
  /** The end of the breaker's window that it probes; null for one that is no probe. */
  readonly probeOf: Instant | null;
  /** What it sends, where that was read already. */
  readonly draft: Draft | Unsendable | null;
  /** Whether it was decided on what was read before its instant. */
  readonly isReadAhead: boolean;
}

export interface Sending {
  /** Whether so many attempts are not settled that none may begin. */
  readonly isSaturated: boolean;
  /** Before the claims are written: makes ready, and counts them as under way. */
  prepare(claims: readonly Claiming[]): void;
  /** The claim is ours: the attempt begins. It gives its permits back by `release`. */
  begin(claiming: Claiming): void;
  /** The claim was not made; `unsure`: or it was, and its answer got lost. */
  drop(claiming: Claiming, unsure: boolean): void;
}

/** The queue that batches come from. */
export interface Queue {
  readonly isStopped: boolean;
  due(due: DueDelivery | null): void;
  /** The store knows of it from now on: it is found again only if it waits again. */
  forget(due: DueDelivery): void;
  /** Gives its permits back. */
  release(due: DueDelivery): void;
  /** The store failed: nothing is to be claimed for a moment. */
  rest(error: unknown): void;
}

export interface Asked {
  readonly due: DueDelivery;
  /** The epoch in which its slot is held. */
  readonly epoch: number;
}

export interface Unread extends Asked {
  /** What was read ahead, of which the draft is still good where the delivery has not changed since. */
  readonly made: Ready | null;
}

export interface Read extends Asked {
  readonly work: LoadedDelivery;
  readonly draft: Draft | Unsendable | null;
  readonly isReadAhead: boolean;
}

export interface Decided<W> {
  readonly due: DueDelivery;
  readonly epoch: number;
  readonly isReadAhead: boolean;
  readonly write: W;
  readonly hasToken: boolean;
}

export interface Decisions {
  readonly claims: Claiming[];
  readonly ends: Decided<EndWrite>[];
  readonly deferrals: Decided<Delivery>[];
}
