/** The client of `openapi-fetch`, with the types of `openapi-typescript`. */
import createClient from 'openapi-fetch';
import type { ConnectClient } from './client.ts';
import type { paths } from './generated/openapi-typescript.ts';

export const connectOpenapiFetch: ConnectClient = (baseUrl, key) => {
  const { GET, POST, PATCH } = createClient<paths>({
    baseUrl,
    headers: { Authorization: `Bearer ${key}` },
  });
  const path = (id: string) => ({ params: { path: { id } } });
  return {
    createSchedule: (body, idempotencyKey) =>
      POST('/v1/schedules', { body, params: { header: { 'Idempotency-Key': idempotencyKey } } }),
    listSchedules: (query) => GET('/v1/schedules', { params: { query } }),
    getSchedule: (id) => GET('/v1/schedules/{id}', path(id)),
    updateSchedule: (id, body) => PATCH('/v1/schedules/{id}', { ...path(id), body }),
    rescheduleSchedule: (id, body) => POST('/v1/schedules/{id}/reschedule', { ...path(id), body }),
    pauseSchedule: (id) => POST('/v1/schedules/{id}/pause', path(id)),
    resumeSchedule: (id) => POST('/v1/schedules/{id}/resume', path(id)),
    cancelSchedule: (id) => POST('/v1/schedules/{id}/cancel', path(id)),
    listScheduleDeliveries: (id, query) =>
      GET('/v1/schedules/{id}/deliveries', { params: { path: { id }, query } }),
    createEndpoint: (body) => POST('/v1/endpoints', { body }),
    listEndpoints: (query) => GET('/v1/endpoints', { params: { query } }),
    getEndpoint: (id) => GET('/v1/endpoints/{id}', path(id)),
    updateEndpoint: (id, body) => PATCH('/v1/endpoints/{id}', { ...path(id), body }),
    archiveEndpoint: (id) => POST('/v1/endpoints/{id}/archive', path(id)),
    listDeliveries: (query) => GET('/v1/deliveries', { params: { query } }),
    getDelivery: (id) => GET('/v1/deliveries/{id}', path(id)),
    replayDelivery: (id) => POST('/v1/deliveries/{id}/replay', path(id)),
    listAttempts: (id, query) => GET('/v1/deliveries/{id}/attempts', { params: { path: { id }, query } }),
  };
};
