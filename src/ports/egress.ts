/**
 * Sends guarded HTTP requests. Addresses are checked at every connection, redirects are not followed, and of the answer
 * only the status is kept, unless the request asks for the beginning of its body.
 */
import type { Method } from '#src/domain/destination.ts';
import type { FailureCode } from '#src/domain/failures.ts';
import type { Headers } from '#src/domain/headers.ts';
import type { Partition } from '#src/domain/project.ts';

export interface OutboundRequest {
  /** The customer of the request. Connections are opened round robin by customer. */
  readonly customer: Partition;
  readonly method: Method;
  /** The URL is parsed once, by the WHATWG rules, so that the checked address is the one that is connected to. */
  readonly url: URL;
  /** All headers are sendable (see `domain/headers.ts`). They are sent in this order. */
  readonly headers: Headers;
  readonly body: Uint8Array | null;
  /** Overdue requests of a customer to one origin wait for a connection behind its other requests to it. */
  readonly isOverdue: boolean;
  /** How many bytes are kept of an answer that is not 2xx. With 0 none are, which costs nothing. */
  readonly excerptBytesMax: number;
}

/** The beginning of the body of an answer. */
export interface AnswerExcerpt {
  /** At most 255 visible ASCII characters. */
  readonly contentType: string | null;
  /** The bytes as they were sent. */
  readonly bytes: Uint8Array;
  /** Whether more may have followed. */
  readonly isTruncated: boolean;
}

export type SendResult =
  | {
      readonly kind: 'answered';
      readonly statusCode: number;
      /**
       * Resolves when enough of the body was read, at most 2 s after the head. Never rejects. It is left out if none was
       * asked for, for 2xx, and if the address is not public.
       */
      readonly excerpt?: Promise<AnswerExcerpt>;
    }
  | { readonly kind: 'failed'; readonly failure: FailureCode };

export interface Egress {
  /**
   * Sends a request and calls `onEnd` once with its result, at once or later. Before that it calls `onConnected` as
   * soon as there is a connection for the request. `wasOpen` is true when the connection was open already, so that the
   * request did not wait for it. The returned function aborts the request; its result then no longer matters. After the
   * answer it ends the excerpt with what was read. Never throws.
   */
  send(
    request: OutboundRequest,
    onEnd: (result: SendResult) => void,
    onConnected: (wasOpen: boolean) => void,
  ): () => void;
  /**
   * Opens connections for requests that are expected soon, up to `connections` including those that are open or
   * opening. It is only an optimisation: it is limited, guarded like any connection, and silent when it fails. Never
   * throws.
   */
  warm(url: URL, connections: number, customer: Partition): void;
  close(): Promise<void>;
}
