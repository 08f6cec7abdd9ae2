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
  /** Sentences for people, as the service sent them. */
  readonly message: string;
}

/**
 * The base class of all errors of this client. The message is for people: it says what was wrong, what is allowed, and
 * often an example. Programs should branch on the class or on `code`.
 */
export class SchedError extends Error {
  readonly type: ErrorType;
  readonly code: ErrorCode;
  /** The status of the HTTP answer, or null if there was no answer. */
  readonly status: number | null;
  /** The field that caused the error, or null. */
  readonly param: string | null;
  /** The id of the request in the log of the service, or null. */
  readonly requestId: string | null;

  constructor(facts: ErrorFacts, options?: { readonly cause?: unknown }) {
    super(facts.message, options);
    this.type = facts.type;
    this.code = facts.code;
    this.status = facts.status;
    this.param = facts.param;
    this.requestId = facts.requestId;
  }

  /** One line with everything that a log needs: `NotFoundError: … (404 not_found, req_…)`. */
  override toString(): string {
    const code = this.status === null ? this.code : `${this.status} ${this.code}`;
    const param = this.param === null ? '' : ` in ${this.param}`;
    const id = this.requestId === null ? '' : `, ${this.requestId}`;
    return `${this.name}: ${this.message} (${code}${param}${id})`;
  }
}

/** The request is invalid. Sending it again unchanged does not help. */
export class InvalidRequestError extends SchedError {}

/** The API key is missing, unknown or revoked. */
export class AuthenticationError extends SchedError {}

/** The object does not exist in the project and mode of this API key. */
export class NotFoundError extends SchedError {}

/** The `Idempotency-Key` was used for another request, is too long, or is still in progress after all retries. */
export class IdempotencyError extends SchedError {}

/** The service received too many requests. */
export class RateLimitError extends SchedError {}

/** The service failed, or the answer did not come from Sched. */
export class ApiError extends SchedError {}

/** There was no answer, so the call may have taken effect. Repeating it with the same idempotency key is safe. */
export class ConnectionError extends SchedError {}

// The names are not own fields, so that a printed error does not repeat them. A minifier would change `class.name`.
for (const [name, each] of Object.entries({
  SchedError,
  InvalidRequestError,
  AuthenticationError,
  NotFoundError,
  IdempotencyError,
  RateLimitError,
  ApiError,
  ConnectionError,
})) {
  Object.defineProperty(each.prototype, 'name', { value: name, configurable: true, writable: true });
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
    message: `HTTP ${status}, ${explanation}`,
  });
}

export function connectionError(
  code: 'connection_failed' | 'timeout',
  message: string,
  cause?: unknown,
): ConnectionError {
  const facts = {
    type: 'connection_error',
    code,
    status: null,
    param: null,
    requestId: null,
    message,
  } as const;
  return new ConnectionError(facts, { cause });
}
