/** Parses a JSON object into the input of a command, or throws the one error that is reported. */
import type { z } from 'zod';
import type { ProfileFields } from '#src/commands/profiles.ts';
import type { NewSchedule } from '#src/commands/schedules.ts';
import { DEFAULT_METHOD, isDestination } from '#src/domain/destination.ts';
import type { BreakerPolicy, RateLimit } from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { EndpointId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Labels } from '#src/domain/labels.ts';
import { NOTIFIED_OUTCOMES, type Notify } from '#src/domain/notify.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '#src/domain/retry.ts';
import type { Destination, Schedule, Timing } from '#src/domain/schedule.ts';
import type { ScheduleEdit } from '#src/domain/schedule-lifecycle.ts';
import { readTiming, TIMING_FIELDS } from '#src/domain/timing.ts';
import { isZone } from '#src/domain/zone.ts';
import { otherNameText } from '#src/texts/body-fault-text.ts';
import {
  EndpointWrite,
  ScheduleCreate,
  SchedulePreview,
  ScheduleReschedule,
  ScheduleUpdate,
} from './contract/bodies.ts';
import type * as field from './contract/fields.ts';
import { Faults } from './faults.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A value of null counts as absent. */
function has(body: JsonObject, name: string): boolean {
  return body[name] !== undefined && body[name] !== null;
}

/** Parses the body. Faults are collected and not thrown, so that the first in order is reported. */
function parse<S extends z.ZodType>(schema: S, body: JsonObject, faults: Faults): z.output<S> | null {
  const parsed = schema.safeParse(body);
  if (!parsed.success) faults.addIssues(parsed.error.issues);
  return parsed.success ? parsed.data : null;
}

interface TimingRules {
  /** The instant that a one-shot has already, which may have come. */
  readonly kept: Instant | null;
  readonly takesDelay: boolean;
}

const CREATION_RULES: TimingRules = { kept: null, takesDelay: true };

function collectTiming(
  body: JsonObject,
  now: Instant,
  faults: Faults,
  { kept, takesDelay }: TimingRules = CREATION_RULES,
): Timing | null {
  const given = TIMING_FIELDS.filter((name) => has(body, name));
  const timezone = has(body, 'timezone') ? body.timezone : null;
  if (given.length > 1) faults.add('multiple_timing', given[1] ?? null);
  if (given.length === 0) faults.add('missing_timing', null);
  if (!takesDelay && has(body, 'delay')) {
    faults.add('invalid_duration', 'delay');
    return null;
  }
  if (timezone !== null && !(typeof timezone === 'string' && isZone(timezone))) {
    faults.add('invalid_cron', 'timezone');
    return null;
  }
  const [name] = given;
  const text = name === undefined ? undefined : body[name];
  if (name === undefined || typeof text !== 'string') return null;
  const read = readTiming(name, text, timezone, now, kept);
  if (read.ok) return read.timing;
  faults.addFault(read.fault);
  return null;
}

function collectUrl(body: JsonObject, name: 'endpoint' | 'url', httpAllowed: boolean, faults: Faults): void {
  const text = body[name];
  if (typeof text === 'string' && !isDestination(text, httpAllowed)) faults.add('url_blocked', name);
}

interface PutContext {
  readonly now: Instant;
  readonly httpAllowed: boolean;
  /** The name in the path. */
  readonly name: string;
  /** The schedule that has the name. */
  readonly present: Schedule | null;
}

/** A `delay` names no fixed instant, so the same body would not always mean the same schedule. */
export function readSchedulePut(
  body: JsonObject,
  { now, httpAllowed, name, present }: PutContext,
): NewSchedule {
  const kept = present === null ? null : keptInstant(present, body);
  const given = readScheduleCreate(body, now, httpAllowed, { kept, takesDelay: false });
  return { ...given, name: nameInPath(given.name, name) };
}

/** Another jitter would move the delivery, so the instant has to lie ahead again. */
function keptInstant({ timing, jitter }: Schedule, body: JsonObject): Instant | null {
  const isSameJitter = (body.jitter ?? null) === jitter;
  return timing.kind === 'one_shot' && isSameJitter ? timing.fireAt : null;
}

export function readEndpointPut(body: JsonObject, httpAllowed: boolean, name: string): ProfileFields {
  const given = readEndpointCreate(body, httpAllowed);
  return { ...given, name: nameInPath(given.name, name) };
}

/** A body may repeat the name. */
function nameInPath(given: string | null, name: string): string {
  if (given !== null && given !== name) throw new Refusal('invalid_name', 'name', otherNameText(given, name));
  return name;
}

export function readScheduleCreate(
  body: JsonObject,
  now: Instant,
  httpAllowed: boolean,
  rules: TimingRules = CREATION_RULES,
): NewSchedule {
  const faults = new Faults({ body, now, httpAllowed, takesDelay: rules.takesDelay });
  const isProfileBacked = has(body, 'endpoint_id');
  if (isProfileBacked && has(body, 'endpoint')) faults.add('multiple_endpoint', 'endpoint_id');
  if (isProfileBacked && has(body, 'method')) faults.add('method_on_profile', 'method');
  if (!isProfileBacked && !has(body, 'endpoint')) faults.add('missing_endpoint', 'endpoint');
  const timing = collectTiming(body, now, faults, rules);
  collectUrl(body, 'endpoint', httpAllowed, faults);
  const fields = parse(ScheduleCreate, body, faults);
  faults.throwIfAny();
  if (fields === null || timing === null) throw new Error('The body is wrong, but no fault was collected.');
  return {
    name: fields.name ?? null,
    timing,
    destination: destinationOf(fields),
    headers: entries(fields.headers),
    body: fields.body ?? null,
    jitter: fields.jitter ?? null,
    ttl: fields.ttl ?? null,
    idempotencyKey: fields.idempotency_key ?? null,
    retryPolicy: retryPolicyOf(fields.retry_policy),
    rateLimit: rateLimitOf(fields.rate_limit),
    notify: notifyOf(fields.notify),
    metadata: entries(fields.metadata),
  };
}

function destinationOf(fields: z.output<typeof ScheduleCreate>): Destination {
  // An id of no profile is refused when the profile is looked up.
  return typeof fields.endpoint_id === 'string'
    ? { kind: 'profile', endpointId: fields.endpoint_id as EndpointId }
    : { kind: 'inline', url: fields.endpoint ?? '', method: fields.method ?? DEFAULT_METHOD };
}

export function readScheduleUpdate(body: JsonObject, schedule: Schedule, httpAllowed: boolean): ScheduleEdit {
  const faults = new Faults({ body, now: null, httpAllowed });
  if (schedule.destination.kind === 'profile') {
    if (has(body, 'endpoint')) faults.add('multiple_endpoint', 'endpoint');
    if (has(body, 'method')) faults.add('method_on_profile', 'method');
  }
  collectUrl(body, 'endpoint', httpAllowed, faults);
  const fields = parse(ScheduleUpdate, body, faults);
  faults.throwIfAny();
  if (fields === null) throw new Error('The body is wrong, but no fault was collected.');
  return {
    ...(typeof fields.endpoint === 'string' && { endpoint: fields.endpoint }),
    ...(fields.name !== undefined && { name: fields.name }),
    ...(typeof fields.method === 'string' && { method: fields.method }),
    ...(fields.ttl !== undefined && { ttl: fields.ttl }),
    ...(fields.retry_policy !== undefined && { retryPolicy: retryPolicyOf(fields.retry_policy) }),
    ...(fields.notify !== undefined && { notify: notifyOf(fields.notify) }),
    ...(fields.metadata !== undefined && { metadata: entries(fields.metadata) }),
  };
}

export function readReschedule(body: JsonObject, now: Instant): Timing {
  const faults = new Faults({ body, now, httpAllowed: false });
  const timing = collectTiming(body, now, faults);
  parse(ScheduleReschedule, body, faults);
  faults.throwIfAny();
  if (timing === null) throw new Error('The body is wrong, but no fault was collected.');
  return timing;
}

/** Parses the timing of a preview. It is refused like the same fields of a create. */
export function readPreview(
  body: JsonObject,
  now: Instant,
): { readonly timing: Timing; readonly jitter: string | null } {
  const faults = new Faults({ body, now, httpAllowed: false });
  const timing = collectTiming(body, now, faults);
  const fields = parse(SchedulePreview, body, faults);
  faults.throwIfAny();
  if (timing === null || fields === null) throw new Error('The body is wrong, but no fault was collected.');
  return { timing, jitter: fields.jitter ?? null };
}

export function readEndpointCreate(body: JsonObject, httpAllowed: boolean): ProfileFields {
  const faults = new Faults({ body, now: null, httpAllowed });
  if (!has(body, 'url')) faults.add('missing_url', 'url');
  const edit = collectEndpoint(body, httpAllowed, faults);
  return {
    name: edit.name ?? null,
    url: edit.url ?? '',
    method: edit.method ?? DEFAULT_METHOD,
    headers: edit.headers ?? [],
    timeout: edit.timeout ?? null,
    retryPolicy: edit.retryPolicy ?? DEFAULT_RETRY_POLICY,
    retryBudget: edit.retryBudget ?? null,
    rateLimit: edit.rateLimit ?? null,
    breakerPolicy: edit.breakerPolicy ?? null,
    responseExcerpt: edit.responseExcerpt ?? null,
    notify: edit.notify ?? null,
    standardWebhooks: edit.standardWebhooks ?? false,
    metadata: edit.metadata ?? [],
  };
}

export function readEndpointUpdate(body: JsonObject, httpAllowed: boolean): Partial<ProfileFields> {
  return collectEndpoint(body, httpAllowed, new Faults({ body, now: null, httpAllowed }));
}

function collectEndpoint(body: JsonObject, httpAllowed: boolean, faults: Faults): Partial<ProfileFields> {
  collectUrl(body, 'url', httpAllowed, faults);
  const fields = parse(EndpointWrite, body, faults);
  faults.throwIfAny();
  if (fields === null) throw new Error('The body is wrong, but no fault was collected.');
  return {
    ...(fields.name !== undefined && { name: fields.name }),
    ...(typeof fields.url === 'string' && { url: fields.url }),
    ...(typeof fields.method === 'string' && { method: fields.method }),
    ...(fields.headers !== undefined && { headers: entries(fields.headers) }),
    ...(fields.timeout !== undefined && { timeout: fields.timeout }),
    ...(fields.retry_policy !== undefined && {
      retryPolicy: retryPolicyOf(fields.retry_policy) ?? DEFAULT_RETRY_POLICY,
    }),
    ...(fields.retry_budget !== undefined && { retryBudget: fields.retry_budget }),
    ...(fields.rate_limit !== undefined && { rateLimit: rateLimitOf(fields.rate_limit) }),
    ...(fields.breaker_policy !== undefined && { breakerPolicy: breakerPolicyOf(fields.breaker_policy) }),
    ...(fields.response_excerpt !== undefined && { responseExcerpt: fields.response_excerpt }),
    ...(fields.notify !== undefined && { notify: notifyOf(fields.notify) }),
    ...(fields.standard_webhooks !== undefined && { standardWebhooks: fields.standard_webhooks ?? false }),
    ...(fields.metadata !== undefined && { metadata: entries(fields.metadata) }),
  };
}

function entries(map: Readonly<Record<string, string>> | null | undefined): Labels {
  return map === null || map === undefined ? [] : Object.entries(map);
}

/** Missing fields of a policy get their defaults. */
function retryPolicyOf(given: z.output<typeof field.retryPolicy> | null | undefined): RetryPolicy | null {
  if (given === null || given === undefined) return null;
  return {
    maxAttempts: given.max_attempts ?? DEFAULT_RETRY_POLICY.maxAttempts,
    strategy: 'exponential',
    base: given.base ?? DEFAULT_RETRY_POLICY.base,
    factor: given.factor ?? DEFAULT_RETRY_POLICY.factor,
    max: given.max ?? DEFAULT_RETRY_POLICY.max,
    jitter: given.jitter ?? DEFAULT_RETRY_POLICY.jitter,
  };
}

function rateLimitOf(given: z.output<typeof field.rateLimit> | null | undefined): RateLimit | null {
  return given === null || given === undefined ? null : { perSecond: given.per_second };
}

/** The outcomes get one order, so that two lists of the same outcomes are equal. */
function notifyOf(given: z.output<typeof field.notify> | null | undefined): Notify | null {
  if (given === null || given === undefined) return null;
  return {
    // An id of no profile is refused when the profile is looked up.
    endpointId: (given.endpoint_id ?? null) as EndpointId | null,
    on: NOTIFIED_OUTCOMES.filter((outcome) => given.on.includes(outcome)),
  };
}

function breakerPolicyOf(given: z.output<typeof field.breakerPolicy> | null): BreakerPolicy | null {
  if (given === null) return null;
  return {
    threshold: given.threshold,
    baseOpen: given.base_open,
    maxOpen: given.max_open,
    probeTimeout: given.probe_timeout,
  };
}
