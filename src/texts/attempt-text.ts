/** Says in plain sentences how an attempt went: what happened, why, and what to do about it. */
import type { Attempt } from '#src/domain/delivery.ts';
import { findFailure } from '#src/domain/failures.ts';
import { FAILURE_EXPLANATIONS } from './failure-explanations.ts';
import { type Explanation, explainStatus } from './status-explanations.ts';

type EndedAttempt = Pick<Attempt, 'outcome' | 'statusCode' | 'error'>;

/** `url` is the destination. The text names its host alone, because path and query may hold secrets. */
export function attemptText(attempt: EndedAttempt & Pick<Attempt, 'finishedAt'>, url: string): string {
  if (attempt.finishedAt === null) return 'The attempt is in flight. The receiver has not answered yet.';
  if (attempt.outcome === 'success')
    return `${hostOf(url)} answered ${attempt.statusCode ?? 'with success'}. The delivery succeeded.`;
  const { cause, advice } = explainFailure(attempt, url);
  return advice === null ? cause : `${cause} ${advice}.`;
}

/** Explains an attempt that failed. */
export function explainFailure({ statusCode, error }: EndedAttempt, url: string): Explanation {
  const host = hostOf(url);
  if (statusCode !== null) return explainStatus(host, statusCode);
  const text = error ?? '';
  const failure = findFailure(text);
  if (failure !== null) return FAILURE_EXPLANATIONS[failure.code](host, failure.detail);
  const cause = text === '' ? 'The attempt failed for an unknown reason.' : `The attempt failed: ${text}.`;
  return { cause, advice: null };
}

function hostOf(url: string): string {
  return URL.parse(url)?.host || 'The destination';
}
