/**
 * This module guards changes of destination. People who may not see stored headers and bodies must not send them
 * elsewhere. Only an admin may make such a change. The audit log has the old and the new place of each.
 */

import type { OperationId } from '#src/api/contract/operations.ts';
import type { EditGuard } from '#src/api/handlers.ts';
import type { ProjectRequest } from '#src/control/http/route.ts';
import { ControlRefusal } from '#src/control/refusal.ts';
import { isOtherDestination, originAndPath } from '#src/domain/destination.ts';
import { parseId } from '#src/domain/id.ts';
import type { DataDependencies } from './dependencies.ts';

export function editGuard({ insight }: Pick<DataDependencies, 'insight'>): EditGuard {
  return {
    schedule({ destination, payloadBytes }, { endpoint }) {
      if (endpoint === undefined || destination.kind !== 'inline' || payloadBytes === 0) return;
      if (isOtherDestination(destination.url, endpoint)) throw new ControlRefusal('destination_guarded', '');
    },

    async profile({ partition, id, url, headerNames }, edit) {
      if (edit.url === undefined || !isOtherDestination(url, edit.url)) return;
      if (headerNames.length > 0 || (await insight.hasPayloads(partition, id))) {
        throw new ControlRefusal('destination_guarded', '');
      }
    },
  };
}

export interface DestinationChange {
  readonly from: string;
  readonly to: string;
}

type Store = DataDependencies['commands']['store'];
type UrlOf = (store: Store, asked: ProjectRequest) => Promise<string | null>;

/** Edits that may name a destination: in which field, and how the present one is found. */
const MOVING: Readonly<Partial<Record<OperationId, { readonly field: string; readonly urlOf: UrlOf }>>> = {
  updateSchedule: { field: 'endpoint', urlOf: urlOfSchedule },
  updateEndpoint: { field: 'url', urlOf: urlOfProfile },
};

/** The place it sends to now, and the one it would after this edit. Null for an edit that does not name one. */
export async function findDestinationChange(
  { commands: { store } }: Pick<DataDependencies, 'commands'>,
  operation: OperationId,
  asked: ProjectRequest,
): Promise<DestinationChange | null> {
  const moving = MOVING[operation];
  const text = moving && asked.body[moving.field];
  const to = typeof text === 'string' ? originAndPath(text) : null;
  const url = moving === undefined || to === null ? null : await moving.urlOf(store, asked);
  const from = url === null ? null : originAndPath(url);
  return from === null || to === null ? null : { from, to };
}

async function urlOfSchedule(store: Store, { partition, params: { id = '' } }: ProjectRequest) {
  const scheduleId = parseId('sch', id);
  const view = scheduleId === null ? null : await store.findSchedule(partition, scheduleId);
  return view?.schedule.destination.kind === 'inline' ? view.schedule.destination.url : null;
}

async function urlOfProfile(store: Store, { partition, params: { id = '' } }: ProjectRequest) {
  const endpointId = parseId('ep', id);
  const profile = endpointId === null ? null : await store.findProfile(partition, endpointId);
  return profile?.url ?? null;
}
