import { describe, expect, test } from 'vitest';
import { OPERATIONS, type OperationId } from './contract/operations.ts';
import { Endpoint, Schedule } from './contract/resources.ts';
import { fieldsOf, findIgnored } from './ignored-fields.ts';
import type { JsonObject } from './read-bodies.ts';
import { unknownField } from './unknown-field.ts';

function refusalOf(
  id: OperationId,
  body: JsonObject,
): { readonly param: string | null; readonly message: string } {
  const operation = OPERATIONS[id];
  const [first] = findIgnored(body, fieldsOf(operation));
  if (first === undefined) throw new Error('No field is ignored.');
  const { code, param, message } = unknownField(operation, first);
  expect(code).toBe('unknown_field');
  return { param, message };
}

const SCHEDULE_FIELDS =
  '`name`, `endpoint`, `endpoint_id`, `method`, `headers`, `body`, `delay`, `fire_at`, `local_fire_at`, `cron`, `timezone`, `ttl`, `idempotency_key`, `retry_policy`, `rate_limit`, `jitter`, `notify`, `metadata`';
const TO_PROFILE =
  'belongs to an endpoint profile, not to a schedule: use POST /v1/endpoints, and its id as `endpoint_id`.';
const TO_SCHEDULE = 'belongs to a schedule, not to an endpoint profile: use POST /v1/schedules.';
const TO_RESCHEDULE = 'cannot be changed by PATCH: use reschedule (POST /v1/schedules/{id}/reschedule).';
const FIXED = 'is fixed when a schedule is created: cancel the schedule, and create another one.';

/** The field as a path, and the message after its first words. */
const MESSAGES: readonly (readonly [id: OperationId, field: string, message: string])[] = [
  // A field of another call.
  ['createSchedule', 'timeout', `\`timeout\` ${TO_PROFILE}`],
  ['createSchedule', 'breaker_policy', `\`breaker_policy\` ${TO_PROFILE}`],
  ['updateSchedule', 'cron', `\`cron\` ${TO_RESCHEDULE}`],
  ['updateSchedule', 'delay', `\`delay\` ${TO_RESCHEDULE}`],
  ['updateSchedule', 'timezone', `\`timezone\` ${TO_RESCHEDULE}`],
  ['updateSchedule', 'endpoint_id', `\`endpoint_id\` ${FIXED}`],
  ['updateSchedule', 'body', `\`body\` ${FIXED}`],
  ['updateSchedule', 'retry_budget', `\`retry_budget\` ${TO_PROFILE}`],
  ['rescheduleSchedule', 'ttl', '`ttl` is not a part of the timing: use PATCH /v1/schedules/{id}.'],
  ['rescheduleSchedule', 'jitter', `\`jitter\` ${FIXED}`],
  ['createEndpoint', 'cron', `\`cron\` ${TO_SCHEDULE}`],
  ['updateEndpoint', 'ttl', `\`ttl\` ${TO_SCHEDULE}`],
  [
    'updateSchedule',
    'idempotency_key',
    '`idempotency_key` is not a part of this request: send the header Idempotency-Key to make it safe to repeat.',
  ],
  // A name of another service.
  ['createSchedule', 'url', '`url` is not a field of a schedule. Did you mean `endpoint`?'],
  ['createEndpoint', 'endpoint', '`endpoint` is not a field of an endpoint profile. Did you mean `url`?'],
  ['createSchedule', 'tz', '`tz` is not a field of a schedule. Did you mean `timezone`?'],
  ['createSchedule', 'timeZone', '`timeZone` is not a field of a schedule. Did you mean `timezone`?'],
  ['createSchedule', 'schedule', '`schedule` is not a field of a schedule. Did you mean `cron`?'],
  [
    'createSchedule',
    'cron_expression',
    '`cron_expression` is not a field of a schedule. Did you mean `cron`?',
  ],
  ['createSchedule', 'run_at', '`run_at` is not a field of a schedule. Did you mean `fire_at`?'],
  ['createSchedule', 'at', '`at` is not a field of a schedule. Did you mean `fire_at`?'],
  [
    'createSchedule',
    'scheduled_for',
    '`scheduled_for` is not a field of a schedule. Did you mean `fire_at`?',
  ],
  ['createSchedule', 'payload', '`payload` is not a field of a schedule. Did you mean `body`?'],
  ['createSchedule', 'data', '`data` is not a field of a schedule. Did you mean `body`?'],
  ['createSchedule', 'labels', '`labels` is not a field of a schedule. Did you mean `metadata`?'],
  ['createEndpoint', 'tags', '`tags` is not a field of an endpoint profile. Did you mean `metadata`?'],
  [
    'createSchedule',
    'max_retries',
    '`max_retries` is not a field of a schedule. Did you mean `retry_policy.max_attempts`?',
  ],
  [
    'createSchedule',
    'retries',
    '`retries` is not a field of a schedule. Did you mean `retry_policy.max_attempts`?',
  ],
  [
    'createSchedule',
    'timeout_ms',
    `\`timeout_ms\` is not a field of a schedule. You may mean \`timeout\`, which ${TO_PROFILE}`,
  ],
  [
    'updateSchedule',
    'time_zone',
    `\`time_zone\` is not a field of a PATCH of a schedule. You may mean \`timezone\`, which ${TO_RESCHEDULE}`,
  ],
  [
    'updateSchedule',
    'state',
    '`state` is not a field of a PATCH of a schedule. A schedule is paused, resumed and canceled with calls of their own.',
  ],
  // A misspelt name.
  ['createSchedule', 'endpont', '`endpont` is not a field of a schedule. Did you mean `endpoint`?'],
  ['createSchedule', 'fireAt', '`fireAt` is not a field of a schedule. Did you mean `fire_at`?'],
  ['createEndpoint', 'time-out', '`time-out` is not a field of an endpoint profile. Did you mean `timeout`?'],
  [
    'createSchedule',
    'timeuot',
    `\`timeuot\` is not a field of a schedule. You may mean \`timeout\`, which ${TO_PROFILE}`,
  ],
  [
    'updateSchedule',
    'timezne',
    `\`timezne\` is not a field of a PATCH of a schedule. You may mean \`timezone\`, which ${TO_RESCHEDULE}`,
  ],
  // A field of the answer.
  ['updateSchedule', 'created_at', '`created_at` is set by the service and cannot be sent.'],
  ['createEndpoint', 'version', '`version` is set by the service and cannot be sent.'],
  // Nothing is near.
  ['createSchedule', 'colour', `\`colour\` is not a field of a schedule. Its fields are ${SCHEDULE_FIELDS}.`],
  [
    'rescheduleSchedule',
    'colour',
    '`colour` is not a field of a reschedule. Its fields are `delay`, `fire_at`, `local_fire_at`, `cron`, `timezone`.',
  ],
  // A nested field.
  [
    'createSchedule',
    'retry_policy.max_retries',
    '`retry_policy.max_retries` is not a field of `retry_policy`. Did you mean `retry_policy.max_attempts`?',
  ],
  [
    'createEndpoint',
    'breaker_policy.treshold',
    '`breaker_policy.treshold` is not a field of `breaker_policy`. Did you mean `breaker_policy.threshold`?',
  ],
  [
    'createEndpoint',
    'retry_policy.timeout',
    '`retry_policy.timeout` is not a field of `retry_policy`. Did you mean `timeout`?',
  ],
  [
    'createSchedule',
    'retry_policy.timeout',
    `\`retry_policy.timeout\` is not a field of \`retry_policy\`. You may mean \`timeout\`, which ${TO_PROFILE}`,
  ],
  [
    'createEndpoint',
    'retry_budget.colour',
    '`retry_budget.colour` is not a field of `retry_budget`. Its fields are `rate`, `burst`.',
  ],
  [
    'createSchedule',
    'rate_limit.rps',
    '`rate_limit.rps` is not a field of `rate_limit`. Did you mean `rate_limit.per_second`?',
  ],
  ...(['url', 'profile_id', 'endpointId'] as const).map(
    (name) =>
      [
        'createSchedule',
        `notify.${name}`,
        `\`notify.${name}\` is not a field of \`notify\`. Did you mean \`notify.endpoint_id\`?`,
      ] as const,
  ),
  [
    'createEndpoint',
    'notify.events',
    '`notify.events` is not a field of `notify`. Did you mean `notify.on`?',
  ],
  ['createSchedule', 'on_failure', '`on_failure` is not a field of a schedule. Did you mean `notify`?'],
  // Names of the prototype.
  [
    'createSchedule',
    '__proto__',
    `\`__proto__\` is not a field of a schedule. Its fields are ${SCHEDULE_FIELDS}.`,
  ],
  [
    'createSchedule',
    'constructor',
    `\`constructor\` is not a field of a schedule. Its fields are ${SCHEDULE_FIELDS}.`,
  ],
  // An operation without a body.
  [
    'pauseSchedule',
    'reason',
    'POST /v1/schedules/{id}/pause takes no body, so `reason` would be ignored. Leave it out.',
  ],
  [
    'replayDelivery',
    'delay',
    'POST /v1/deliveries/{id}/replay takes no body, so `delay` would be ignored. Leave it out.',
  ],
];

function bodyWith(field: string): JsonObject {
  const [outer = '', inner] = field.split('.');
  return { [outer]: inner === undefined ? 1 : { [inner]: 1 } };
}

describe('the message about', () => {
  test.each(MESSAGES)('%s with %s', (id, field, message) => {
    expect(refusalOf(id, bodyWith(field))).toEqual({ param: field.split('.')[0], message });
  });
});

/** A client that reads an object, changes it and sends all of it back meets these messages. */
test.each([
  ['updateSchedule', Schedule],
  ['updateEndpoint', Endpoint],
] as const)('every field of the answer to %s is explained if it cannot be sent', (id, { shape }) => {
  const unknown = Object.keys(shape).filter((name) => !fieldsOf(OPERATIONS[id]).has(name));
  expect(unknown).not.toEqual([]);
  for (const name of unknown) expect(refusalOf(id, { [name]: 1 }).message).not.toContain('Its fields are');
});

describe('a hostile name', () => {
  test('may be empty', () => {
    const { param, message } = refusalOf('createSchedule', { '': 1 });
    expect(param).toBe('');
    expect(message).toContain('`""` is not a field of a schedule.');
  });

  test.each([
    ['is cut after 100 characters', 'x'.repeat(1_000_000), 'x'.repeat(100)],
    ['has no control characters', 'a\r\nSet-Cookie: b\u0000', 'a??Set-Cookie: b?'],
    ['does not turn the text around', 'a\u202eb\u200bc', 'a?b?c'],
    ['has no half characters', `\ud800${'x'.repeat(98)}\u{1f680}`, `?${'x'.repeat(98)}?`],
    ['may have letters of any language', 'größe', 'größe'],
  ])('%s', (_what, name, shown) => {
    const { param, message } = refusalOf('createSchedule', { [name]: 1 });
    expect(param).toBe(shown);
    expect(message).toContain(`\`${shown}\` is not a field of a schedule.`);
    expect(message.length).toBeLessThan(500);
  });
});
