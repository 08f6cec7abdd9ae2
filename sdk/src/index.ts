/** `@sched/sdk`: the client of a Sched service, and `verify`. Receivers for frameworks have their own entry points. */
export type * from './api-types.ts';
export type { Attempts } from './client/attempts.ts';
export type { TemporalInstant } from './client/convenient.ts';
export type { Deliveries } from './client/deliveries.ts';
export type { Endpoints } from './client/endpoints.ts';
export { ERROR_CODES, type ErrorCode } from './client/error-codes.ts';
export {
  ApiError,
  AuthenticationError,
  ConnectionError,
  type ErrorType,
  IdempotencyError,
  InvalidRequestError,
  NotFoundError,
  RateLimitError,
  SchedError,
} from './client/errors.ts';
export type { Fetch } from './client/exchange.ts';
export type {
  BreakerPolicyInput,
  Destination,
  EndpointCreate,
  EndpointPut,
  EndpointUpdate,
  ListDeliveriesQuery,
  NotifyInput,
  Payload,
  RetryPolicyInput,
  ScheduleCreate,
  SchedulePut,
  ScheduleReschedule,
  ScheduleUpdate,
  Timing,
} from './client/inputs.ts';
export type { CallOptions, SchedOptions, WriteOptions } from './client/options.ts';
export type { List, Pages } from './client/pages.ts';
export type { DryRun, Put, PutOptions, PutResult } from './client/put.ts';
export { Sched } from './client/sched.ts';
export type { Schedules } from './client/schedules.ts';
export {
  type Alert,
  type ClosedAlert,
  type Incident,
  isAlert,
  type OpenedAlert,
  type ReminderAlert,
  type TestAlert,
} from './receiver/alert.ts';
export {
  type DeadLetterNotification,
  type ExpiredNotification,
  isNotification,
  type Notification,
  type SucceededNotification,
} from './receiver/notification.ts';
export * from './receiver/verify.ts';
