/** The outcome of an attempt: its result, and the evidence that it gives the breaker of its endpoint. */
import type { Evidence } from '#src/domain/breaker.ts';
import { type AttemptResult, INTERRUPTED } from '#src/domain/delivery-lifecycle.ts';
import type { SendResult } from '#src/ports/egress.ts';
import type { Unsendable } from './request-builder.ts';

export type Exchange = SendResult | { readonly kind: 'timed_out' } | { readonly kind: 'interrupted' };

export interface AttemptOutcome {
  readonly result: AttemptResult;
  readonly evidence: Evidence;
}

export function outcomeOf(exchange: Exchange): AttemptOutcome {
  switch (exchange.kind) {
    case 'answered':
      return answered(exchange.statusCode);
    case 'timed_out':
      return { result: failed('retryable', 'timeout'), evidence: 'failure' };
    case 'failed':
      return { result: failed('retryable', exchange.why), evidence: 'failure' };
    case 'unresolved':
      return { result: failed('retryable', exchange.why), evidence: 'nothing' };
    case 'forbidden':
      return { result: failed('terminal', exchange.why), evidence: 'nothing' };
    case 'interrupted':
      return { result: INTERRUPTED, evidence: 'nothing' };
  }
}

/** The outcome of an attempt without a request: it cannot be sent, or (null) it was interrupted before. */
export function unsent(why: Unsendable | null): AttemptOutcome {
  return { result: why?.result ?? INTERRUPTED, evidence: 'nothing' };
}

function answered(statusCode: number): AttemptOutcome {
  if (statusCode >= 200 && statusCode < 300) {
    return { result: { outcome: 'success', statusCode }, evidence: 'success' };
  }
  const isRedirect = statusCode >= 300 && statusCode < 400;
  return {
    result: {
      outcome: isRedirect ? 'terminal' : 'retryable',
      statusCode,
      error: isRedirect ? `redirect (HTTP ${statusCode})` : `HTTP ${statusCode}`,
    },
    evidence: isRedirect ? 'nothing' : 'failure',
  };
}

function failed(outcome: 'retryable' | 'terminal', error: string): AttemptResult {
  return { outcome, statusCode: null, error };
}
