import { expect } from 'vitest';
import type { Answer, Api } from './client.ts';
import type { Attempt, Delivery, Endpoint, ErrorBody, List, Schedule } from './resources.ts';

/** RFC 3339 in UTC with milliseconds. */
export const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

export function idOf(kind: 'sch' | 'dlv' | 'ep' | 'att' | 'req'): RegExp {
  return new RegExp(`^${kind}_[0-9a-z]{26}$`);
}

/** The type follows from the status. For idempotency errors it follows from the code. */
function typeOf(status: number, code: string): string {
  if (status === 401) return 'authentication_error';
  if (status === 404) return 'not_found_error';
  if (code.startsWith('idempotency_')) return 'idempotency_error';
  return status < 500 ? 'invalid_request_error' : 'api_error';
}

/** Checks the whole envelope. `param` is null if no field is at fault. With several, any of them may be named. */
export function expectError(
  answer: Answer,
  status: number,
  code: string,
  param: string | null | readonly string[] = null,
): void {
  const { error } = (answer.json ?? {}) as Partial<ErrorBody>;
  expect({ status: answer.status, code: error?.code, param: error?.param }).toEqual({
    status,
    code,
    param: Array.isArray(param) ? expect.toBeOneOf([...param]) : param,
  });
  expect(answer.json).toEqual({
    error: {
      type: typeOf(status, code),
      code,
      message: expect.stringMatching(/\S/),
      param: error?.param,
      request_id: answer.headers['sched-request-id'],
    },
  });
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
}

export function expectStatus<T>(answer: Answer<T>, status: number): T {
  expect(`${answer.status} ${answer.status === status ? '' : answer.text}`).toBe(`${status} `);
  return answer.json;
}

export async function created(api: Api, body: object): Promise<Schedule> {
  return expectStatus(await api.post<Schedule>('/v1/schedules', body), 201);
}

export async function createdProfile(api: Api, body: object): Promise<Endpoint> {
  return expectStatus(await api.post<Endpoint>('/v1/endpoints', body), 201);
}

export async function patched(api: Api, id: string, body: object): Promise<Schedule> {
  return expectStatus(await api.patch<Schedule>(`/v1/schedules/${id}`, body), 200);
}

export async function patchedProfile(api: Api, id: string, body: object): Promise<Endpoint> {
  return expectStatus(await api.patch<Endpoint>(`/v1/endpoints/${id}`, body), 200);
}

export async function rescheduled(api: Api, id: string, body: object): Promise<Schedule> {
  return expectStatus(await api.post<Schedule>(`/v1/schedules/${id}/reschedule`, body), 200);
}

export async function ordered(api: Api, id: string, order: 'pause' | 'resume' | 'cancel'): Promise<Schedule> {
  return expectStatus(await api.post<Schedule>(`/v1/schedules/${id}/${order}`), 200);
}

export async function replayed(api: Api, id: string): Promise<Delivery> {
  return expectStatus(await api.post<Delivery>(`/v1/deliveries/${id}/replay`), 201);
}

export async function schedule(api: Api, id: string): Promise<Schedule> {
  return expectStatus(await api.get<Schedule>(`/v1/schedules/${id}`), 200);
}

export async function profile(api: Api, id: string): Promise<Endpoint> {
  return expectStatus(await api.get<Endpoint>(`/v1/endpoints/${id}`), 200);
}

export async function delivery(api: Api, id: string): Promise<Delivery> {
  return expectStatus(await api.get<Delivery>(`/v1/deliveries/${id}`), 200);
}

export async function list<T>(api: Api, path: string): Promise<List<T>> {
  return expectStatus(await api.get<List<T>>(path), 200);
}

/** Lists the deliveries of a schedule, newest first. */
export async function deliveriesOf(api: Api, scheduleId: string): Promise<readonly Delivery[]> {
  return (await list<Delivery>(api, `/v1/schedules/${scheduleId}/deliveries?limit=100`)).data;
}

export async function attemptsOf(api: Api, deliveryId: string): Promise<readonly Attempt[]> {
  return (await list<Attempt>(api, `/v1/deliveries/${deliveryId}/attempts?limit=100`)).data;
}

/** Returns the only delivery of a schedule. */
export async function onlyDelivery(api: Api, scheduleId: string): Promise<Delivery> {
  const [only, ...others] = await deliveriesOf(api, scheduleId);
  expect(others).toEqual([]);
  if (only === undefined) throw new Error(`${scheduleId} has no delivery.`);
  return only;
}

export function ms(timestamp: string | null | undefined): number {
  const at = Date.parse(timestamp ?? '');
  if (Number.isNaN(at)) throw new Error(`Not a timestamp: ${timestamp}`);
  return at;
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export function fromNow(offsetMs: number): string {
  return new Date(Date.now() + offsetMs).toISOString();
}
