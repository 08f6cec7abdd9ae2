/** A request that came to the inbox, and what became of it. */
import type { Delivery } from '#src/domain/delivery.ts';
import type { Instant } from '#src/domain/instant.ts';

/** Names as they were spelled, in the order they came. */
export type RawHeaders = readonly (readonly [name: string, value: string])[];

export type Signature =
  | { readonly verified: true }
  /** Why not, in a sentence. */
  | { readonly verified: false; readonly why: string };

export type Answered =
  | { readonly kind: 'answered'; readonly status: number }
  /** It waits for an answer, for as long as its sender does. */
  | { readonly kind: 'hangs' }
  | { readonly kind: 'gave_up'; readonly afterMs: number };

/** Which attempt of which delivery it was. Only a signature says so for sure. */
export interface Sent {
  readonly deliveryId: string;
  readonly attemptNo: number;
  /** When that attempt was due; null for one of another service. */
  readonly dueAt: Instant | null;
}

export interface Arrival {
  /** Counted from 1, in this life of the service. */
  readonly number: number;
  /** When its first line was there. */
  readonly at: Instant;
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly headers: RawHeaders;
  readonly body: Uint8Array;
  readonly signature: Signature;
  readonly sent: Sent | null;
  /** As it is now; null for one of another service. */
  readonly delivery: Delivery | null;
  readonly answered: Answered;
}

export function bytesOf({ body, headers, target }: Pick<Arrival, 'body' | 'headers' | 'target'>): number {
  return headers.reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    body.length + target.length,
  );
}
