/**
 * The types of the SDK agree with those of `openapi-typescript`. This file only has to compile. A request of the SDK fits
 * the generated type, and a generated answer fits the type of the SDK, field by field.
 */
import type * as sdk from '../../../sdk/src/api-types.ts';
import type { components, operations } from './generated/openapi-typescript.ts';

type Schemas = components['schemas'];

/** Fails to compile unless each `From` fits its `To`, and both have the same fields. */
type Fits<From, To> = [From, keyof From, keyof To] extends [To, keyof To, keyof From] ? true : never;

/** The generated types of lists may be written to, and those of the SDK may not. */
type Writable<T> = T extends readonly (infer Item)[]
  ? Writable<Item>[]
  : T extends object
    ? { -readonly [K in keyof T]: Writable<T[K]> }
    : T;

type Requests = 'ScheduleCreate' | 'ScheduleUpdate' | 'ScheduleReschedule' | 'EndpointWrite';
type Answers =
  | 'Schedule'
  | 'Delivery'
  | 'Attempt'
  | 'Endpoint'
  | 'ErrorBody'
  | 'ScheduleList'
  | 'Notification'
  | 'Alert';

interface SdkTypes extends Record<Requests | Answers, object> {
  readonly ScheduleCreate: sdk.ScheduleCreate;
  readonly ScheduleUpdate: sdk.ScheduleUpdate;
  readonly ScheduleReschedule: sdk.ScheduleReschedule;
  readonly EndpointWrite: sdk.EndpointWrite;
  readonly Schedule: sdk.Schedule;
  readonly Delivery: sdk.Delivery;
  readonly Attempt: sdk.Attempt;
  readonly Endpoint: sdk.Endpoint;
  readonly ErrorBody: sdk.ErrorBody;
  readonly ScheduleList: sdk.ScheduleList;
  readonly Notification: sdk.Notification;
  readonly Alert: sdk.Alert;
}

export const requests: { readonly [Name in Requests]: Fits<Writable<SdkTypes[Name]>, Schemas[Name]> } = {
  ScheduleCreate: true,
  ScheduleUpdate: true,
  ScheduleReschedule: true,
  EndpointWrite: true,
};
export const answers: { readonly [Name in Answers]: Fits<Schemas[Name], SdkTypes[Name]> } = {
  Schedule: true,
  Delivery: true,
  Attempt: true,
  Endpoint: true,
  ErrorBody: true,
  ScheduleList: true,
  Notification: true,
  Alert: true,
};

type QueryOf<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>;
export const queries: {
  readonly listSchedules: Fits<sdk.ListSchedulesQuery, QueryOf<'listSchedules'>>;
  readonly listDeliveries: Fits<sdk.ListDeliveriesQuery, QueryOf<'listDeliveries'>>;
  readonly listEndpoints: Fits<sdk.ListEndpointsQuery, QueryOf<'listEndpoints'>>;
} = { listSchedules: true, listDeliveries: true, listEndpoints: true };
