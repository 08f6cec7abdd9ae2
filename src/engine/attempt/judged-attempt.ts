/**
 * An attempt that has ended: its result for the delivery, and the evidence that it gives the breaker of its endpoint.
 * The rules for both are in `domain/failures.ts`.
 */
import type { Evidence } from '#src/domain/breaker.ts';
import type { AttemptResult } from '#src/domain/delivery-lifecycle.ts';
import {
  answerEvidence,
  answerResult,
  FAILURES,
  type FailureCode,
  failureResult,
} from '#src/domain/failures.ts';
import type { AnswerExcerpt, SendResult } from '#src/ports/egress.ts';
import type { Unsendable } from './request-builder.ts';

export interface JudgedAttempt {
  readonly result: AttemptResult;
  readonly evidence: Evidence;
  /** The beginning of the answer, which may still arrive. It decides nothing. */
  readonly excerpt?: Promise<AnswerExcerpt>;
}

export function judgeSent(sent: SendResult): JudgedAttempt {
  if (sent.kind === 'failed') return failed(sent.failure);
  const { statusCode, excerpt } = sent;
  const judged = { result: answerResult(statusCode), evidence: answerEvidence(statusCode) };
  return excerpt === undefined ? judged : { ...judged, excerpt };
}

/** Judges an attempt without a request: it cannot be sent, or (null) it was interrupted before. */
export function judgeUnsent(unsendable: Unsendable | null): JudgedAttempt {
  return unsendable === null ? failed('interrupted') : failed(unsendable.failure, unsendable.detail);
}

function failed(failure: FailureCode, detail?: string): JudgedAttempt {
  return { result: failureResult(failure, detail), evidence: FAILURES[failure].evidence };
}
