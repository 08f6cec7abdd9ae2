/**
 * What a call rejects with. The class is the `type` of the answer: branch on it for what to do, and on `code` for
 * what exactly was wrong. An abort is no error of ours: it rejects with the reason of the caller's signal.
 */
import type { ErrorBody } from '../api-types.ts';
import type { ErrorCode } from './error-codes.ts';

export type ErrorType = ErrorBody['error']['type'] | 'connection_error';

export interface ErrorFacts {
  readonly type: ErrorType;
  readonly code: ErrorCode;
  readonly status: number | null;
  readonly param: string | null;
  readonly requestId: string | null;
  /** A sentence for a person. */
  readonly explanation: string;
}

export class SchedError extends Error {
  override readonly name: string = 'SchedError';
  readonly type: ErrorType;
  readonly code: ErrorCode;
  /** Of the HTTP answer; null where there was none. */
  readonly status: number | null;
  /** The field at fault. */
  readonly param: string | null;
  /** By which the service's log knows the call. */
  readonly requestId: string | null;

  constructor(facts: ErrorFacts, options?: { readonly cause?: unknown }) {
    super(formatMessage(facts), options);
    this.type = facts.type;
    this.code = facts.code;
    this.status = facts.status;
    this.param = facts.param;
    this.requestId = facts.requestId;
  }
}

/** The request was wrong: the same again would be refused again. */
export class InvalidRequestError extends SchedError {
  override readonly name = 'InvalidRequestError';
}

/** The API key is missing, unknown or revoked. */
export class AuthenticationError extends SchedError {
  override readonly name = 'AuthenticationError';
}

/** There is no such object in the project and mode of this key. */
export class NotFoundError extends SchedError {
  override readonly name = 'NotFoundError';
}

/** The `Idempotency-Key` was used for something else, is too long, or still in progress after all retries. */
export class IdempotencyError extends SchedError {
  override readonly name = 'IdempotencyError';
}

/** Too many requests. */
export class RateLimitError extends SchedError {
  override readonly name = 'RateLimitError';
}

/** The service failed, or something else than Sched answered. */
export class ApiError extends SchedError {
  override readonly name = 'ApiError';
}

/** No answer came. Whether the call took effect is not known; repeated with the same key it is safe. */
export class ConnectionError extends SchedError {
  override readonly name = 'ConnectionError';
}

const CLASS_OF_TYPE: Readonly<Record<ErrorType, typeof SchedError>> = {
  invalid_request_error: InvalidRequestError,
  authentication_error: AuthenticationError,
  not_found_error: NotFoundError,
  idempotency_error: IdempotencyError,
  rate_limit_error: RateLimitError,
  api_error: ApiError,
  connection_error: ConnectionError,
};

/** A type that a newer service may have is a plain `SchedError`. */
export function errorOf(facts: ErrorFacts): SchedError {
  const known = Object.hasOwn(CLASS_OF_TYPE, facts.type) ? CLASS_OF_TYPE[facts.type] : SchedError;
  return new known(facts);
}

export function unexpectedAnswer(status: number, requestId: string | null, explanation: string): SchedError {
  return new ApiError({
    type: 'api_error',
    code: 'unexpected_answer',
    status,
    param: null,
    requestId,
    explanation: `HTTP ${status}, ${explanation}`,
  });
}

export function connectionError(
  code: 'connection_failed' | 'timeout',
  explanation: string,
  cause?: unknown,
): ConnectionError {
  const facts = {
    type: 'connection_error',
    code,
    status: null,
    param: null,
    requestId: null,
    explanation,
  } as const;
  return new ConnectionError(facts, { cause });
}

function formatMessage({ code, param, requestId, explanation }: ErrorFacts): string {
  const field = param === null ? '' : ` (${param})`;
  const id = requestId === null ? '' : ` [${requestId}]`;
  return `${code}${field}: ${explanation}${id}`;
}
