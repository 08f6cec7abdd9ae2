/**
 * Valid requests, and repeated idempotent ones. They must succeed, because hostile input must not disturb
 * them.
 */
import type { OperationId } from '#src/api/contract/operations.ts';
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES } from '#src/domain/schedule.ts';
import { endpointWrite, scheduleCreate, scheduleUpdate, timing } from './fields.ts';
import {
  answeredWith,
  buildRequest,
  type FuzzRequest,
  type RequestContext,
  refusedAs,
  secretOf,
} from './fuzz-request.ts';
import { object } from './json-text.ts';
import type { KnownEndpoint, KnownSchedule } from './model.ts';

/** One of the client's own schedules. Newer ones come more often, because they are changed more often. */
function ownSchedule({ prng, client }: RequestContext): KnownSchedule | null {
  if (client.schedules.length === 0) return null;
  const recent = client.schedules.slice(-50);
  return prng.chance(0.7) ? prng.pick(recent) : prng.pick(client.schedules);
}

function ownEndpoint({ prng, client }: RequestContext): KnownEndpoint | null {
  return client.endpoints.length === 0 ? null : prng.pick(client.endpoints.slice(-50));
}

/** Bytes above ASCII and inner blanks are valid parts of a key. */
function idempotencyKey(context: RequestContext): string | null {
  if (context.prng.chance(0.6)) return null;
  const odd = context.prng.pick(['', '\u00ff\u0080', 'a\tb', "'--", '__proto__', 'k'.repeat(200)]);
  return `fz${odd}-${context.index}`;
}

function body(members: Parameters<typeof object>[0]): Buffer {
  return Buffer.from(object(members));
}

function keyed(key: string | null) {
  return key === null ? [] : [['Idempotency-Key', key] as const];
}

export function createSchedule(context: RequestContext): FuzzRequest {
  const secret = secretOf(context);
  const profile = context.client.endpoints.findLast(({ json }) => !json.archived);
  const key = idempotencyKey(context);
  const request = {
    method: 'POST',
    path: '/v1/schedules',
    headers: [
      ...keyed(key),
      ...(context.prng.chance(0.05) ? [['Sched-Version', '2026-11-15'] as const] : []),
    ],
    body: body(scheduleCreate(context.prng, secret, profile?.json.id ?? null)),
  };
  return buildRequest(context, request, {
    kind: 'create',
    operation: 'createSchedule',
    key,
    secret,
    expected: answeredWith(201),
  });
}

export function createEndpoint(context: RequestContext): FuzzRequest {
  const secret = secretOf(context);
  const key = idempotencyKey(context);
  const request = {
    method: 'POST',
    path: '/v1/endpoints',
    headers: keyed(key),
    body: body(endpointWrite(context.prng, secret, true)),
  };
  return buildRequest(context, request, {
    kind: 'create',
    operation: 'createEndpoint',
    key,
    secret,
    expected: answeredWith(201),
  });
}

/** Changes one of the client's own objects. */
export function change(context: RequestContext): FuzzRequest {
  const { prng } = context;
  const schedule = ownSchedule(context);
  const endpoint = ownEndpoint(context);
  if (schedule === null || endpoint === null)
    return prng.chance(0.5) ? createSchedule(context) : createEndpoint(context);
  const secret = secretOf(context);
  const isEnded = schedule.json.state === 'canceled' || schedule.json.state === 'completed';
  const key = idempotencyKey(context);
  const onSchedule = (
    method: string,
    verb: string,
    operation: OperationId,
    members: Buffer | null,
  ): FuzzRequest =>
    buildRequest(
      context,
      { method, path: `/v1/schedules/${schedule.json.id}${verb}`, headers: keyed(key), body: members },
      { kind: 'change', operation, key, secret, target: schedule.json.id, expected: answeredWith(200) },
    );
  const onEndpoint = (
    method: string,
    verb: string,
    operation: OperationId,
    members: Buffer | null,
  ): FuzzRequest =>
    buildRequest(
      context,
      { method, path: `/v1/endpoints/${endpoint.json.id}${verb}`, headers: keyed(key), body: members },
      { kind: 'change', operation, key, secret, target: endpoint.json.id, expected: answeredWith(200) },
    );
  return prng.weighted<() => FuzzRequest>([
    [
      4,
      () =>
        onSchedule(
          'PATCH',
          '',
          'updateSchedule',
          body(scheduleUpdate(prng, schedule.json.endpoint_id === null)),
        ),
    ],
    [
      3,
      () => ({
        ...onSchedule('POST', '/reschedule', 'rescheduleSchedule', body(timing(prng))),
        expected: isEnded ? refusedAs('schedule_not_active') : answeredWith(200),
      }),
    ],
    [2, () => ({ ...onSchedule('POST', '/pause', 'pauseSchedule', null), key: null })],
    [2, () => ({ ...onSchedule('POST', '/resume', 'resumeSchedule', Buffer.from('}{ ignored')), key: null })],
    [1, () => ({ ...onSchedule('POST', '/cancel', 'cancelSchedule', null), key: null })],
    [3, () => onEndpoint('PATCH', '', 'updateEndpoint', body(endpointWrite(prng, secret, false)))],
    [1, () => ({ ...onEndpoint('POST', '/archive', 'archiveEndpoint', null), key: null, expected: null })],
  ])();
}

export function read(context: RequestContext): FuzzRequest {
  const { prng } = context;
  const schedule = ownSchedule(context);
  const endpoint = ownEndpoint(context);
  const limit = prng.pick(['1', '5', '20', '100', '0', '-1', '101', 'x', '1e3', '99999999999999999999', '']);
  const list = (path: string, operation: OperationId, query: string): FuzzRequest =>
    buildRequest(
      context,
      { method: 'GET', path: `/v1${path}?limit=${limit}${query}`, body: null },
      { kind: 'read', operation, expected: answeredWith(200) },
    );
  const one = (path: string, operation: OperationId, target: string): FuzzRequest =>
    buildRequest(
      context,
      { method: 'GET', path: `/v1${path}/${target}`, body: null },
      { kind: 'read', operation, target, expected: answeredWith(200) },
    );
  return prng.weighted<() => FuzzRequest>([
    [
      2,
      () =>
        list(
          '/schedules',
          'listSchedules',
          prng.pick([
            '',
            `&state=${prng.pick(SCHEDULE_STATES)}`,
            `&kind=${prng.pick(SCHEDULE_KINDS)}`,
            '&metadata[constructor]=0&metadata[__proto__]=1s',
            `&q=${prng.pick(['FUZZ.invalid', '%25', "'", '?'])}`,
            `&name=${prng.pick(['a', 'A:b.c-d_e'])}`,
            '&endpoint_id=ep_7zzzzzzzzzzzzzzzzzzzzzzzzz&metadata[a]=b',
          ]),
        ),
    ],
    [1, () => list('/endpoints', 'listEndpoints', prng.pick(['', '&include_archived=true']))],
    [
      1,
      () =>
        list(
          '/deliveries',
          'listDeliveries',
          prng.pick([
            '',
            `&status=${prng.pick(DELIVERY_STATUSES)}`,
            '&created_after=2026-01-01T00:00:00%2000:00',
            '&created_before=0000-01-01T00:00:00Z',
            '&endpoint_id=ep_7zzzzzzzzzzzzzzzzzzzzzzzzz',
            '&replay_of=dlv_7zzzzzzzzzzzzzzzzzzzzzzzzz&status=succeeded',
          ]),
        ),
    ],
    [
      1,
      () =>
        list('/attempts', 'listRecentAttempts', prng.pick(['', '&outcome=terminal', '&outcome=retryable'])),
    ],
    [
      3,
      () =>
        schedule === null ? createSchedule(context) : one('/schedules', 'getSchedule', schedule.json.id),
    ],
    [
      2,
      () =>
        endpoint === null ? createEndpoint(context) : one('/endpoints', 'getEndpoint', endpoint.json.id),
    ],
    [
      2,
      () =>
        schedule === null
          ? createSchedule(context)
          : list(`/schedules/${schedule.json.id}/deliveries`, 'listScheduleDeliveries', ''),
    ],
  ])();
}

/** Repeats an idempotent request, or sends another one with its key. */
export function repeat(context: RequestContext): FuzzRequest {
  const { prng, client } = context;
  if (client.answers.length === 0) return createSchedule(context);
  const recorded = prng.pick(client.answers);
  const isSame = prng.chance(0.6);
  const requestBody = isSame ? recorded.requestBody : Buffer.concat([recorded.requestBody, Buffer.from(' ')]);
  const request = {
    method: recorded.method,
    path: recorded.path,
    headers: [['Idempotency-Key', recorded.key] as const],
    body: requestBody,
  };
  return buildRequest(context, request, {
    kind: 'again',
    operation: null,
    key: recorded.key,
    expected: isSame ? answeredWith(recorded.status) : refusedAs('idempotency_key_reuse'),
  });
}
