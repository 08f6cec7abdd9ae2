/** The messages that the inbox page gets and sends. The page imports these types, and nothing else of the inbox. */

export type Signature =
  | { readonly verified: true }
  /** `why` is a sentence. */
  | { readonly verified: false; readonly why: string };

export type AnswerState =
  | { readonly kind: 'answered'; readonly status: number }
  /** The request waits for an answer until its sender gives up. */
  | { readonly kind: 'hangs' }
  | { readonly kind: 'gave_up'; readonly afterMs: number };

export type AnswerKind = '200' | '500' | 'hang' | 'redirect';

export interface AnswerMode {
  readonly answer: AnswerKind;
  /** The number of requests that the mode is for. Null means all requests until another mode is set. */
  readonly times: number | null;
}

/** An arrival in the list. Long texts are shortened. */
export interface ArrivalSummary {
  readonly number: number;
  /** The time at which it arrived, in milliseconds. */
  readonly at: number;
  readonly method: string;
  readonly target: string;
  readonly bytes: number;
  readonly signature: Signature;
  readonly answered: AnswerState;
  /** The delivery that sent it. Null unless the signature is valid. */
  readonly delivery: {
    readonly id: string;
    readonly attempt: number;
    readonly lateness_ms: number | null;
    /** The delivery in its present state, or null if another service sent it. */
    readonly now: {
      readonly schedule_id: string | null;
      readonly status: string;
      readonly attempt_count: number;
      readonly max_attempts: number;
      readonly next_at: number | null;
      readonly error: string | null;
    } | null;
  } | null;
}

/** The rest of an arrival, on request. */
export interface ArrivalDetails {
  readonly number: number;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body:
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'binary'; readonly hex: string; readonly shown: number };
}

/** Facts about the service that the page shows. */
export interface About {
  /** A command that creates a first delivery. */
  readonly curl: string;
  /** The same request, which the page can send. */
  readonly sample: { readonly key: string; readonly body: object };
  readonly hook: string;
}

/** The events of the stream by name. Arrivals before `first` were dropped. */
export interface InboxEvents {
  /** `isNew`: what the page has seen is of another run of the service. */
  readonly hello: About & { readonly isNew: boolean; readonly answer: AnswerMode; readonly first: number };
  readonly arrival: { readonly arrival: ArrivalSummary; readonly first: number };
  readonly answer: { readonly answer: AnswerMode; readonly first: number };
  readonly cleared: { readonly first: number };
}
