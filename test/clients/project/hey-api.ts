/** The client of `@hey-api/openapi-ts`, which is generated whole. */
import type { ConnectClient } from './client.ts';
import { createClient, createConfig } from './generated/hey-api/client/index.ts';
import * as sdk from './generated/hey-api/sdk.gen.ts';

export const connectHeyApi: ConnectClient = (baseUrl, key) => {
  const client = createClient(createConfig({ baseUrl, auth: key }));
  return {
    createSchedule: (body, idempotencyKey) =>
      sdk.createSchedule({ client, body, headers: { 'Idempotency-Key': idempotencyKey } }),
    listSchedules: (query) => sdk.listSchedules({ client, query }),
    getSchedule: (id) => sdk.getSchedule({ client, path: { id } }),
    updateSchedule: (id, body) => sdk.updateSchedule({ client, path: { id }, body }),
    rescheduleSchedule: (id, body) => sdk.rescheduleSchedule({ client, path: { id }, body }),
    pauseSchedule: (id) => sdk.pauseSchedule({ client, path: { id } }),
    resumeSchedule: (id) => sdk.resumeSchedule({ client, path: { id } }),
    cancelSchedule: (id) => sdk.cancelSchedule({ client, path: { id } }),
    listScheduleDeliveries: (id, query) => sdk.listScheduleDeliveries({ client, path: { id }, query }),
    createEndpoint: (body) => sdk.createEndpoint({ client, body }),
    listEndpoints: (query) => sdk.listEndpoints({ client, query }),
    getEndpoint: (id) => sdk.getEndpoint({ client, path: { id } }),
    updateEndpoint: (id, body) => sdk.updateEndpoint({ client, path: { id }, body }),
    archiveEndpoint: (id) => sdk.archiveEndpoint({ client, path: { id } }),
    listDeliveries: (query) => sdk.listDeliveries({ client, query }),
    getDelivery: (id) => sdk.getDelivery({ client, path: { id } }),
    replayDelivery: (id) => sdk.replayDelivery({ client, path: { id } }),
    listAttempts: (id, query) => sdk.listAttempts({ client, path: { id }, query }),
  };
};
