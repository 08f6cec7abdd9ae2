/**
 * Explains why a field of a strict request is refused, and names the field or the call that was meant. The contract
 * says where each field belongs. Only the names that other services use are a table here.
 */
import { Refusal } from '#src/domain/errors.ts';
import { nearestName } from '#src/domain/nearest-name.ts';
import { isPrintable } from '#src/texts/quote.ts';
import type { KnownFields } from './contract/bodies.ts';
import { OPERATIONS, type Operation } from './contract/operations.ts';
import { type FieldPath, fieldsAt, fieldsOf, NAME_CHARACTERS_MAX } from './ignored-fields.ts';

/** Fields of Sched, and their names elsewhere. Of several fields, the first that fits is meant. */
const NAMES_ELSEWHERE: readonly (readonly [fields: string, names: string])[] = [
  ['endpoint url notify.endpoint_id', 'endpoint endpoint_url url uri target target_url destination'],
  ['endpoint url', 'callback callback_url webhook webhook_url'],
  ['endpoint_id notify.endpoint_id', 'profile profile_id endpoint_profile endpoint_profile_id'],
  ['method', 'http_method verb'],
  ['headers', 'header_keys http_headers'],
  ['body', 'payload data content json message input'],
  ['delay', 'delay_ms delay_seconds in wait after countdown'],
  ['fire_at', 'at run_at send_at execute_at scheduled_at scheduled_for next_fire_at schedule_time'],
  ['fire_at', 'not_before start_at start_time time timestamp eta'],
  ['cron', 'schedule cron_expression cron_schedule schedule_expression expression pattern'],
  ['cron', 'recurrence repeat interval every'],
  ['timezone', 'tz time_zone zone cron_tz'],
  ['ttl', 'deadline expires_in expires_after expiry max_age'],
  ['name', 'title'],
  ['metadata', 'labels label tags tag annotations attributes description'],
  [
    'retry_policy.max_attempts',
    'retries retry max_retries retry_count attempts max_attempts tries max_tries',
  ],
  ['retry_policy.base', 'backoff retry_delay min_backoff initial_interval'],
  ['retry_policy.max', 'max_backoff max_interval max_delay'],
  ['retry_policy.factor', 'backoff_coefficient multiplier'],
  ['timeout', 'timeout_ms timeout_seconds request_timeout'],
  ['retry_budget.rate rate_limit.per_second', 'rate'],
  ['rate_limit.per_second', 'rps rate_per_second max_dispatches_per_second'],
  ['breaker_policy', 'breaker circuit_breaker'],
  ['notify', 'notification notifications on_failure on_success failure_callback dead_letter_queue'],
  ['notify.on', 'event events outcome outcomes statuses'],
];

const MEANT: ReadonlyMap<string, readonly string[]> = new Map(
  NAMES_ELSEWHERE.flatMap(([fields, names]) => names.split(' ').map((name) => [name, fields.split(' ')])),
);

const STATE_CALLS = 'A schedule is paused, resumed and canceled with calls of their own.';
const SECRET_COMMAND = 'Signing secrets are set with the command `sched secret`.';

/** Names that are no field of any body, and what to do instead. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['state', STATE_CALLS],
  ['status', STATE_CALLS],
  ['paused', STATE_CALLS],
  ['enabled', STATE_CALLS],
  ['active', STATE_CALLS],
  ['archived', 'An endpoint profile is archived with a call of its own.'],
  ['secret', SECRET_COMMAND],
  ['signing_secret', SECRET_COMMAND],
  ['mode', 'The API key decides the mode.'],
  ['project', 'The API key decides the project.'],
]);

/** Fields of the answers that no request can have. */
const SET_BY_SERVICE: ReadonlySet<string> = new Set([
  'id',
  'object',
  'kind',
  'next_runs',
  'version',
  'created_at',
  'updated_at',
]);

const { createSchedule, putSchedule, updateSchedule, rescheduleSchedule } = OPERATIONS;
const { createEndpoint, putEndpoint, updateEndpoint } = OPERATIONS;

const OBJECT_OF: ReadonlyMap<Operation, string> = new Map<Operation, string>([
  [createSchedule, 'a schedule'],
  [putSchedule, 'a schedule'],
  [updateSchedule, 'a PATCH of a schedule'],
  [rescheduleSchedule, 'a reschedule'],
  [createEndpoint, 'an endpoint profile'],
  [putEndpoint, 'an endpoint profile'],
  [updateEndpoint, 'an endpoint profile'],
]);

/** `path` is the first ignored field of the body. */
export function unknownField(operation: Operation, path: FieldPath): Refusal {
  const [outer] = path;
  return new Refusal('unknown_field', printable(outer), explain(operation, path));
}

function explain(operation: Operation, path: FieldPath): string {
  const shown = `\`${printable(path.map((name) => name || '""').join('.'))}\``;
  const known = fieldsOf(operation);
  if (known.size === 0) {
    return `${callOf(operation)} takes no body, so ${shown} would be ignored. Leave it out.`;
  }
  const name = snakeCase(path.at(-1) ?? '');
  const outer = path.slice(0, -1).join('.');
  const fields = fieldsAt(known, path.slice(0, -1));
  const object = outer === '' ? (OBJECT_OF.get(operation) ?? 'this request') : `\`${outer}\``;
  const isNoField = `${shown} is not a field of ${object}.`;

  const meant = outer === '' ? findHere(known, name) : findInside(known, outer, name);
  if (meant !== null) return `${isNoField} Did you mean \`${meant}\`?`;
  const instead = INSTEAD.get(name);
  if (instead !== undefined) return `${isNoField} ${instead}`;
  const [field = null, place] = findElsewhere(operation, [name, ...(MEANT.get(name) ?? [])]);
  if (field === name && outer === '') return `${shown} ${place}`;
  if (field !== null) return `${isNoField} You may mean \`${field}\`, which ${place}`;
  if (outer === '' && SET_BY_SERVICE.has(name)) {
    return `${shown} is set by the service and cannot be sent.`;
  }
  const near = nearestName(name, fields.keys());
  if (near !== null) return `${isNoField} Did you mean \`${outer === '' ? near : `${outer}.${near}`}\`?`;
  const [remote = null, remotePlace] = findElsewhere(operation, nearestElsewhere(name));
  if (remote !== null) return `${isNoField} You may mean \`${remote}\`, which ${remotePlace}`;
  return `${isNoField} Its fields are ${[...fields.keys()].map((field) => `\`${field}\``).join(', ')}.`;
}

/** Finds the field of this body that was meant by a name in its outermost object. */
function findHere(known: KnownFields, name: string): string | null {
  if (known.has(name)) return name;
  return (MEANT.get(name) ?? []).find((field) => isKnown(known, field)) ?? null;
}

/** Finds the field that was meant by a name in a nested object, first there and then in the whole body. */
function findInside(known: KnownFields, outer: string, name: string): string | null {
  const habits = (MEANT.get(name) ?? []).filter((field) => field.startsWith(`${outer}.`));
  const inside = [`${outer}.${name}`, ...habits].find((field) => isKnown(known, field));
  return inside ?? findHere(known, name);
}

/** Finds the first field that another call takes. Returns it with the end of a sentence about it. */
function findElsewhere(
  operation: Operation,
  fields: readonly string[],
): readonly [field?: string, place?: string] {
  for (const field of fields) {
    const place = placeOf(operation, field);
    if (place !== null) return [field, place];
  }
  return [];
}

/** Finds a field of a schedule or of an endpoint profile that was misspelt. */
function nearestElsewhere(name: string): readonly string[] {
  return [createSchedule, createEndpoint]
    .map((operation) => nearestName(name, fieldsOf(operation).keys()))
    .filter((near) => near !== null);
}

function placeOf(operation: Operation, field: string): string | null {
  const has = (other: Operation) => isKnown(fieldsOf(other), field);
  if (operation !== createSchedule && field === 'idempotency_key') {
    return 'is not a part of this request: send the header Idempotency-Key to make it safe to repeat.';
  }
  if (operation.path.startsWith('/endpoints')) {
    return has(createSchedule)
      ? `belongs to a schedule, not to an endpoint profile: use ${callOf(createSchedule)}.`
      : null;
  }
  if (operation === updateSchedule && has(rescheduleSchedule)) {
    return `cannot be changed by PATCH: use reschedule (${callOf(rescheduleSchedule)}).`;
  }
  if (operation === rescheduleSchedule && has(updateSchedule)) {
    return `is not a part of the timing: use ${callOf(updateSchedule)}.`;
  }
  if (has(createSchedule)) {
    return 'is fixed when a schedule is created: cancel the schedule, and create another one.';
  }
  return has(createEndpoint)
    ? `belongs to an endpoint profile, not to a schedule: use ${callOf(createEndpoint)}, and its id as \`endpoint_id\`.`
    : null;
}

function isKnown(known: KnownFields, field: string): boolean {
  const names = field.split('.');
  return fieldsAt(known, names.slice(0, -1)).has(names.at(-1) ?? '');
}

function callOf({ method, path }: Operation): string {
  return `${method} /v1${path}`;
}

function snakeCase(name: string): string {
  return name
    .slice(0, NAME_CHARACTERS_MAX)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
}

/** The name of a field as a message repeats it. */
export function printable(name: string): string {
  const shown = name.slice(0, NAME_CHARACTERS_MAX);
  return Array.from(shown, (character) => (isPrintable(character) ? character : '?')).join('');
}
