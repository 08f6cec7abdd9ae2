/** The outcome of an attempt: its result, and the evidence that it gives the breaker of its endpoint. */
import type { Evidence } from '#src/domain/breaker.ts';
import type { AttemptResult } from '#src/domain/delivery-lifecycle.ts';
import {
  answerResult,
  FAILURES,
  type FailureCode,
  failureOfStatus,
  failureResult,
} from '#src/domain/failures.ts';
import type { SendResult } from '#src/ports/egress.ts';
import type { Unsendable } from './request-builder.ts';

export interface AttemptOutcome {
  readonly result: AttemptResult;
  readonly evidence: Evidence;
}

export function outcomeOf(sent: SendResult): AttemptOutcome {
  if (sent.kind === 'failed') return failed(sent.failure);
  const failure = failureOfStatus(sent.statusCode);
  return {
    result: answerResult(sent.statusCode),
    evidence: failure === null ? 'success' : FAILURES[failure].evidence,
  };
}

/** The outcome of an attempt without a request: it cannot be sent, or (null) it was interrupted before. */
export function unsent(unsendable: Unsendable | null): AttemptOutcome {
  return unsendable === null ? failed('interrupted') : failed(unsendable.failure, unsendable.detail);
}

function failed(failure: FailureCode, detail?: string): AttemptOutcome {
  return { result: failureResult(failure, detail), evidence: FAILURES[failure].evidence };
}
