/** The API as the suite uses it. Each generated client fits it, so both have the same types. */
import type { components, operations } from './generated/openapi-typescript.ts';

type Schemas = components['schemas'];
export type Schedule = Schemas['Schedule'];
export type Delivery = Schemas['Delivery'];
export type Endpoint = Schemas['Endpoint'];
export type ApiError = Schemas['ErrorBody'];

type Query<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>;

/** An answer has data, or an error. */
export interface Answer<T> {
  readonly data?: T | undefined;
  readonly error?: ApiError | undefined;
  readonly response?: Response | undefined;
}

export interface Client {
  createSchedule(body: Schemas['ScheduleCreate'], idempotencyKey?: string): Promise<Answer<Schedule>>;
  listSchedules(query: Query<'listSchedules'>): Promise<Answer<Schemas['ScheduleList']>>;
  getSchedule(id: string): Promise<Answer<Schedule>>;
  updateSchedule(id: string, body: Schemas['ScheduleUpdate']): Promise<Answer<Schedule>>;
  rescheduleSchedule(id: string, body: Schemas['ScheduleReschedule']): Promise<Answer<Schedule>>;
  pauseSchedule(id: string): Promise<Answer<Schedule>>;
  resumeSchedule(id: string): Promise<Answer<Schedule>>;
  cancelSchedule(id: string): Promise<Answer<Schedule>>;
  listScheduleDeliveries(
    id: string,
    query: Query<'listScheduleDeliveries'>,
  ): Promise<Answer<Schemas['DeliveryList']>>;
  createEndpoint(body: Schemas['EndpointWrite']): Promise<Answer<Endpoint>>;
  listEndpoints(query: Query<'listEndpoints'>): Promise<Answer<Schemas['EndpointList']>>;
  getEndpoint(id: string): Promise<Answer<Endpoint>>;
  updateEndpoint(id: string, body: Schemas['EndpointWrite']): Promise<Answer<Endpoint>>;
  archiveEndpoint(id: string): Promise<Answer<Endpoint>>;
  listDeliveries(query: Query<'listDeliveries'>): Promise<Answer<Schemas['DeliveryList']>>;
  getDelivery(id: string): Promise<Answer<Delivery>>;
  replayDelivery(id: string): Promise<Answer<Delivery>>;
  listAttempts(id: string, query: Query<'listAttempts'>): Promise<Answer<Schemas['AttemptList']>>;
}

export type ConnectClient = (baseUrl: string, key: string) => Client;
