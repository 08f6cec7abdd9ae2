/**
 * Errors of the control plane, answered in the envelope of /v1. Refusals of the API keep their code. The control
 * plane's own codes have their statuses here.
 */
import type { FastifyReply } from 'fastify';
import { JSON_TYPE, refusalOf } from '#src/api/errors.ts';
import { type ControlCode, ControlRefusal } from '#src/control/refusal.ts';
import { ERRORS, type ErrorCode, type ErrorType } from '#src/domain/errors.ts';
import type { Log } from '#src/ports/telemetry.ts';

/**
 * The status of each refusal, and the field that it is about. The page shows the message there. The messages are in
 * `control/refusal.ts`.
 */
const STATUS_AND_PARAM: Readonly<Record<ControlCode, readonly [status: number, param?: string]>> = {
  invalid_project_name: [422, 'name'],
  project_exists: [409, 'name'],
  unknown_project: [422, 'projects'],
  unknown_key: [404],
  invalid_overlap: [422, 'overlap'],
  unknown_endpoint: [404],
  endpoint_secret_exists: [409],
  no_endpoint_secret: [409],
  too_many_secrets: [409],
  secret_not_standard: [409],
  project_secret_not_standard: [409],
  unknown_alert_channel: [404],
  unknown_alert_condition: [404],
  unknown_incident: [404],
  invalid_channel_name: [422, 'name'],
  invalid_channel_url: [422, 'url'],
  channel_name_taken: [409, 'name'],
  too_many_alert_channels: [409],
  too_many_alert_conditions: [409],
  channel_in_use: [409],
  channel_test_waits: [409],
  invalid_threshold: [422, 'threshold'],
  invalid_window: [422, 'window_minutes'],
  invalid_channels: [422, 'channel_ids'],
  key_elsewhere: [409],
  wrong_login: [401],
  wrong_password: [422, 'current'],
  login_throttled: [429],
  weak_password: [422, 'password'],
  invalid_name: [422, 'name'],
  invalid_role: [422, 'role'],
  too_many_projects: [422, 'projects'],
  name_taken: [409, 'name'],
  unknown_user: [404],
  last_admin: [409],
  changed_meanwhile: [409],
  not_allowed: [403],
  destination_guarded: [403],
  invitation_gone: [410],
  replay_under_way: [409],
  too_many_jobs: [409],
  job_ended: [409],
  not_signed_in: [401],
  bad_origin: [403],
  bad_csrf_token: [403],
  not_local: [403],
  wrong_host: [421],
};

const MS_PER_SECOND = 1_000;

/** The message of /v1 speaks of an API key, which the dashboard does not use. */
const NOT_FOUND = 'This does not exist, or you may not see it.';

export interface ErrorDescription {
  readonly status: number;
  readonly code: ControlCode | ErrorCode;
  readonly message: string;
  readonly param: string | null;
  /** How long to wait before trying again. 0 if waiting does not help. */
  readonly waitMs: number;
}

export function describeError(error: unknown, requestId: string, log: Log): ErrorDescription {
  if (error instanceof ControlRefusal) {
    const { code, message, waitMs } = error;
    const [status, param = null] = STATUS_AND_PARAM[code];
    return { status, code, message, param, waitMs };
  }
  const { code, param, message: apiMessage } = refusalOf(error, requestId, log);
  const message = code === 'not_found' ? NOT_FOUND : apiMessage;
  return { status: ERRORS[code].status, code, message, param, waitMs: 0 };
}

export function refuse(reply: FastifyReply, error: unknown, log: Log): FastifyReply {
  const requestId = reply.request.id;
  const { status, code, message, param, waitMs } = describeError(error, requestId, log);
  if (waitMs > 0) reply.header('retry-after', Math.ceil(waitMs / MS_PER_SECOND));
  return reply
    .code(status)
    .header('content-type', JSON_TYPE)
    .send(
      JSON.stringify({ error: { type: typeOf(status, code), code, message, param, request_id: requestId } }),
    );
}

function typeOf(status: number, code: string): ErrorType {
  if (Object.hasOwn(ERRORS, code)) return ERRORS[code as keyof typeof ERRORS].type;
  if (status === 401 || status === 403) return 'authentication_error';
  if (status === 404 || status === 410) return 'not_found_error';
  return status === 429 ? 'rate_limit_error' : 'invalid_request_error';
}
