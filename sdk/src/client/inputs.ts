/**
 * The requests of the API as a program writes them, with convenient values. The types allow exactly one timing and
 * exactly one destination. The names of some types are the explanation that the compiler shows: `string is not
 * assignable to OnlyOneTiming`.
 */
import type * as Api from '../api-types.ts';
import type { Convenient } from './convenient.ts';

interface ScheduleFields extends Convenient<Api.ScheduleCreate> {
  readonly notify?: NotifyInput | null | undefined;
}

type Needs<T, K extends keyof T> = { readonly [P in K]-?: Exclude<T[P], null | undefined> };

/** A schedule has exactly one of `delay`, `fire_at`, `local_fire_at` and `cron`. */
export type OnlyOneTiming = null | undefined;
/** `timezone` belongs to `cron` and `local_fire_at`. Other timings are instants, which have no time zone. */
export type OnlyWithCronOrLocalFireAt = null | undefined;
/** A schedule has either `endpoint` or `endpoint_id`. */
export type OnlyOneDestination = null | undefined;
/** `method` belongs to `endpoint`. With `endpoint_id`, the endpoint profile has the method. */
export type OnlyWithEndpoint = null | undefined;
/** A schedule has either `body` or `json`. */
export type EitherBodyOrJson = null | undefined;

type TimingField = 'delay' | 'fire_at' | 'local_fire_at' | 'cron';
type NoOther<K extends TimingField> = { readonly [P in Exclude<TimingField, K>]?: OnlyOneTiming };

interface WithoutZone {
  readonly timezone?: OnlyWithCronOrLocalFireAt;
}
interface WithZone extends Pick<ScheduleFields, 'timezone'> {}

export interface AtFireAt extends Needs<ScheduleFields, 'fire_at'>, NoOther<'fire_at'>, WithoutZone {}
export interface AtLocalFireAt
  extends Needs<ScheduleFields, 'local_fire_at'>,
    NoOther<'local_fire_at'>,
    WithZone {}
export interface OnCron extends Needs<ScheduleFields, 'cron'>, NoOther<'cron'>, WithZone {}
export interface WithDelay extends Needs<ScheduleFields, 'delay'>, NoOther<'delay'>, WithoutZone {}

/** When to send: exactly one of `delay`, `fire_at`, `local_fire_at` and `cron`. */
export type Timing = WithDelay | AtFireAt | AtLocalFireAt | OnCron;

export interface ToEndpointProfile extends Needs<ScheduleFields, 'endpoint_id'> {
  readonly endpoint?: OnlyOneDestination;
  readonly method?: OnlyWithEndpoint;
}
export interface ToUrl extends Needs<ScheduleFields, 'endpoint'>, Pick<ScheduleFields, 'method'> {
  readonly endpoint_id?: OnlyOneDestination;
}

/** Where to send: exactly one of `endpoint` and `endpoint_id`. */
export type Destination = ToUrl | ToEndpointProfile;

export interface JsonPayload {
  /**
   * The request body as a value, instead of `body`. It is written with `JSON.stringify`, and sent as `application/json`
   * unless `headers` or the endpoint profile have another `Content-Type`.
   */
  readonly json: unknown;
  readonly body?: EitherBodyOrJson;
}
export interface TextPayload extends Pick<ScheduleFields, 'body'> {
  readonly json?: EitherBodyOrJson;
}

/** What to send: `body` as a text, or `json` as a value, or nothing. */
export type Payload = TextPayload | JsonPayload;

export interface ScheduleSettings
  extends Omit<ScheduleFields, TimingField | 'timezone' | 'endpoint' | 'endpoint_id' | 'method' | 'body'> {}

/** A new schedule. Durations may be milliseconds, and instants may be a `Date`. */
export type ScheduleCreate = Destination & Timing & Payload & ScheduleSettings;

/**
 * A schedule as `put` writes it. Its name is the first argument. It has no `delay`, which names no fixed instant: the same
 * call would mean another schedule each time.
 */
export type SchedulePut = Destination & Exclude<Timing, WithDelay> & Payload & Omit<ScheduleSettings, 'name'>;

/** Changes of a schedule. Fields that are left out do not change. Use `reschedule` to change the timing. */
export interface ScheduleUpdate extends Convenient<Api.ScheduleUpdate> {
  readonly notify?: NotifyInput | null | undefined;
}

/** The new timing of a schedule. */
export type ScheduleReschedule = Timing;

/** Changes of an endpoint profile. Fields that are left out do not change. */
export interface EndpointUpdate extends Convenient<Api.EndpointWrite> {
  readonly notify?: NotifyInput | null | undefined;
}

/** A new endpoint profile. `url` is required. */
export interface EndpointCreate extends Omit<EndpointUpdate, 'url'>, Needs<EndpointUpdate, 'url'> {}

/** An endpoint profile as `put` writes it. Its name is the first argument. */
export interface EndpointPut extends Omit<EndpointCreate, 'name'> {}

/** Without `endpoint_id` there is nobody to tell, so `on` has no outcomes. */
export interface EmptyWithoutEndpointId extends ReadonlyArray<never> {
  readonly length: 0;
}
export interface NotifyNobody {
  readonly endpoint_id?: null | undefined;
  readonly on: EmptyWithoutEndpointId;
}

/** Who is told how deliveries ended: an endpoint profile, or nobody. */
export type NotifyInput = Api.Notify | NotifyNobody;

export interface RetryPolicyInput extends Convenient<Api.RetryPolicyInput> {}
export interface BreakerPolicyInput extends Convenient<Api.BreakerPolicy> {}

export interface ListDeliveriesQuery extends Convenient<Api.ListDeliveriesQuery> {}
