/**
 * The errors that a call rejects with. The class follows the `type` of the answer and says what to do. `code` says what
 * exactly was wrong. An aborted call is different: it rejects with the reason of the caller's signal.
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
  /** A sentence for people. */
  readonly explanation: string;
}

/** The base class of all errors of this client. */
export class SchedError extends Error {
  override readonly name: string = 'SchedError';
  readonly type: ErrorType;
  readonly code: ErrorCode;
  /** The status of the HTTP answer, or null if there was no answer. */
  readonly status: number | null;
  /** The field that caused the error, or null. */
  readonly param: string | null;
  /** The id of the request in the log of the service, or null. */
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

/** The request is invalid. Sending it again unchanged does not help. */
export class InvalidRequestError extends SchedError {
  override readonly name = 'InvalidRequestError';
}

/** The API key is missing, unknown or revoked. */
export class AuthenticationError extends SchedError {
  override readonly name = 'AuthenticationError';
}

/** The object does not exist in the project and mode of this API key. */
export class NotFoundError extends SchedError {
  override readonly name = 'NotFoundError';
}

/** The `Idempotency-Key` was used for another request, is too long, or is still in progress after all retries. */
export class IdempotencyError extends SchedError {
  override readonly name = 'IdempotencyError';
}

/** The service received too many requests. */
export class RateLimitError extends SchedError {
  override readonly name = 'RateLimitError';
}

/** The service failed, or the answer did not come from Sched. */
export class ApiError extends SchedError {
  override readonly name = 'ApiError';
}

/** There was no answer, so the call may have taken effect. Repeating it with the same idempotency key is safe. */
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

/** An unknown type, from a newer service, becomes a plain `SchedError`. */
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
