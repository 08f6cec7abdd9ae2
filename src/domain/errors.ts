/**
 * Every error of the API, as data: one row per code. The OpenAPI document, the HTTP layer and the docs all read this
 * table. An error is recognised by its code, never by its text.
 */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'rate_limit_error'
  | 'idempotency_error'
  | 'not_found_error'
  | 'api_error';

interface ErrorRow {
  readonly status: number;
  readonly type: ErrorType;
  readonly message: string;
}

const INVALID = 'invalid_request_error';

export const ERRORS = {
  missing_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'No API key was given. Send the header "Authorization: Bearer <key>".',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'This API key is unknown or revoked. "sched key create" creates a new one.',
  },
  not_found: {
    status: 404,
    type: 'not_found_error',
    message: 'There is no such object or path for this API key.',
  },

  invalid_request: { status: 400, type: INVALID, message: 'A field has a wrong type or value.' },
  unknown_field: {
    status: 400,
    type: INVALID,
    message: 'A field of the body is unknown here, and the request asked for strict handling.',
  },
  invalid_json: { status: 400, type: INVALID, message: 'The request body must be a JSON object.' },
  invalid_duration: {
    status: 400,
    type: INVALID,
    message: 'Not a valid duration or wall-clock time, such as 30s, 1h30m or 2026-11-15T08:00:00.',
  },
  invalid_fire_at: {
    status: 400,
    type: INVALID,
    message: 'fire_at must be an RFC 3339 instant with an offset or Z, such as 2026-11-15T08:00:00Z.',
  },
  multiple_timing: {
    status: 400,
    type: INVALID,
    message: 'Give exactly one of delay, fire_at, local_fire_at and cron.',
  },
  multiple_endpoint: {
    status: 400,
    type: INVALID,
    message: 'Give either endpoint or endpoint_id, not both.',
  },
  method_on_profile: {
    status: 400,
    type: INVALID,
    message: 'The method comes from the endpoint profile; leave it out beside endpoint_id.',
  },
  invalid_method: { status: 400, type: INVALID, message: 'method must be POST, PUT, PATCH, GET or DELETE.' },
  invalid_cursor: {
    status: 400,
    type: INVALID,
    message: 'This cursor is not valid here. Use next_cursor from a page of the same list.',
  },
  invalid_version: {
    status: 400,
    type: INVALID,
    message:
      'Sched-Version is not a date. Write it as YYYY-MM-DD, such as 2026-11-15, or leave the header out.',
  },
  payload_too_large: { status: 413, type: INVALID, message: 'The payload is larger than allowed.' },

  idempotency_key_too_long: {
    status: 400,
    type: 'idempotency_error',
    message: 'Idempotency-Key may have at most 255 characters.',
  },
  idempotency_key_reuse: {
    status: 409,
    type: 'idempotency_error',
    message:
      'This Idempotency-Key was used for a different request in the last 24 hours: another method, path or body. Use a new key for each request, and the same key only to repeat one unchanged.',
  },
  idempotency_in_progress: {
    status: 409,
    type: 'idempotency_error',
    message:
      'The first request with this Idempotency-Key is still in progress. Send it again in a moment, with the same key.',
  },

  not_replayable: {
    status: 409,
    type: INVALID,
    message: 'Only a delivery that succeeded, was dead-lettered or expired can be replayed.',
  },
  not_cancelable: {
    status: 409,
    type: INVALID,
    message:
      'Only a delivery that waits for a retry can be canceled. To cancel the delivery of a one-shot schedule, cancel the schedule.',
  },
  name_taken: { status: 409, type: INVALID, message: 'Another object that has not ended has this name.' },
  delivery_in_progress: {
    status: 409,
    type: INVALID,
    message: 'The delivery of this one-shot schedule is being sent. Try again when its attempt has ended.',
  },
  profile_in_use: {
    status: 409,
    type: INVALID,
    message:
      'An active or paused schedule still uses or notifies this endpoint profile, or another profile notifies it. Cancel or change those first, then archive the profile.',
  },
  schedule_not_active: {
    status: 409,
    type: INVALID,
    message: 'A canceled or completed schedule cannot be rescheduled.',
  },

  missing_timing: {
    status: 422,
    type: INVALID,
    message: 'Give one of delay, fire_at, local_fire_at and cron.',
  },
  missing_endpoint: { status: 422, type: INVALID, message: 'Give endpoint or endpoint_id.' },
  sub_floor_delay: { status: 422, type: INVALID, message: 'delay must be at least 1s.' },
  fire_at_in_past: {
    status: 422,
    type: INVALID,
    message: 'The instant must be at least 1 s in the future.',
  },
  fire_at_too_far: {
    status: 422,
    type: INVALID,
    message: 'The instant may be at most 10 years ahead.',
  },
  invalid_cron: {
    status: 422,
    type: INVALID,
    message:
      'Not a five-field cron expression with an occurrence in the next 10 years, or not an IANA time zone.',
  },
  invalid_name: {
    status: 422,
    type: INVALID,
    message:
      'A name has up to 255 letters, digits, ".", "_", ":" and "-", and begins with a letter or digit, such as "nightly-report".',
  },
  invalid_response_excerpt: {
    status: 422,
    type: INVALID,
    message: 'response_excerpt must be a whole number of bytes from 0 to 16384.',
  },
  invalid_notify: {
    status: 422,
    type: INVALID,
    message:
      'notify must be { endpoint_id, on }: an endpoint profile that is not archived, and a list of succeeded, dead_letter and expired.',
  },
  invalid_signature: {
    status: 422,
    type: INVALID,
    message:
      'standard_webhooks needs signing secrets that are whsec_ and base64, and one in force has another form. Rotate it.',
  },
  too_many_labels: { status: 422, type: INVALID, message: 'metadata may have at most 50 labels.' },
  url_blocked: {
    status: 422,
    type: INVALID,
    message: 'The destination must be a publicly routable https:// URL without credentials.',
  },
  invalid_retry_policy: {
    status: 422,
    type: INVALID,
    message: 'A retry_policy field is out of range or of a wrong type.',
  },
  missing_url: { status: 422, type: INVALID, message: 'An endpoint profile needs a url.' },
  invalid_endpoint: { status: 422, type: INVALID, message: 'endpoint_id names no endpoint profile.' },
  endpoint_archived: { status: 422, type: INVALID, message: 'This endpoint profile is archived.' },
  invalid_timeout: {
    status: 422,
    type: INVALID,
    message: 'timeout must be a duration above 0 and at most 1h.',
  },
  invalid_retry_budget: {
    status: 422,
    type: INVALID,
    message: 'retry_budget must be { rate, burst }, both numbers of at least 0.',
  },
  invalid_rate_limit: {
    status: 422,
    type: INVALID,
    message: 'rate_limit must be { per_second }, a number of at least 0.',
  },
  invalid_breaker_policy: {
    status: 422,
    type: INVALID,
    message:
      'breaker_policy needs threshold (1-1000) and base_open, max_open, probe_timeout (each above 0, at most 24h).',
  },

  internal_error: {
    status: 500,
    type: 'api_error',
    message:
      'The service failed, and its log has the details under request_id. Send the request again with the same Idempotency-Key.',
  },
  unavailable: {
    status: 503,
    type: 'api_error',
    message: 'The store cannot be reached or is full. Nothing was changed; try again.',
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorCode = keyof typeof ERRORS;

/** A refusal of a request: a code of the table and the field at fault. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly param: string | null;

  constructor(code: ErrorCode, param: string | null = null, message?: string) {
    super(message ?? ERRORS[code].message);
    this.name = 'Refusal';
    this.code = code;
    this.param = param;
  }
}
