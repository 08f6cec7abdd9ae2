/**
 * The way out: one guarded HTTP request. Addresses are judged at every connection, redirects are not
 * followed, and nothing of the answer is kept but its status.
 */
import type { Method } from '#src/domain/destination.ts';
import type { FailureCode } from '#src/domain/failures.ts';
import type { Headers } from '#src/domain/headers.ts';
import type { Partition } from '#src/domain/project.ts';

export interface OutboundRequest {
  /** Whose it is: customers take turns where connections are opened. */
  readonly customer: Partition;
  readonly method: Method;
  /** Parsed once, by the WHATWG rules: what is judged is what is connected to. */
  readonly url: URL;
  /** All sendable (see `domain/headers.ts`), in the order they are to be sent. */
  readonly headers: Headers;
  readonly body: Uint8Array | null;
}

export type SendResult =
  | { readonly kind: 'answered'; readonly statusCode: number }
  | { readonly kind: 'failed'; readonly failure: FailureCode };

export interface Egress {
  /**
   * Calls back once with what came of it, at once or later, and before that, as soon as there is a connection to
   * write on, whether that was open before: then it was not waited for. The answer breaks the request off, and then
   * what comes back no longer matters. Never throws.
   */
  send(
    request: OutboundRequest,
    onEnd: (result: SendResult) => void,
    onConnected: (wasOpen: boolean) => void,
  ): () => void;
  /**
   * Requests to this origin are expected in a moment: sees to it that up to so many connections are open by
   * then, counting those that are or are being made. A favour, not a promise: bounded, guarded like any
   * connection, and silent where it fails. Never throws.
   */
  warm(url: URL, connections: number, customer: Partition): void;
  close(): Promise<void>;
}
