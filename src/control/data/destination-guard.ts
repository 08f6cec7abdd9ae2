/**
 * Guards changes of destination. A user who may not see stored headers and bodies must not send them elsewhere, so only
 * an admin may make such a change. The audit log has the old and the new destination of each change.
 */

import type { OperationId } from '#src/api/contract/operations.ts';
import type { EditGuard } from '#src/api/handler.ts';
import type { JsonBody, ProjectRequest } from '#src/control/http/route.ts';
import { ControlRefusal } from '#src/control/refusal.ts';
import { isOtherDestination, originAndPath } from '#src/domain/destination.ts';
import { parseId } from '#src/domain/id.ts';
import type { DataDependencies } from './dependencies.ts';

export function editGuard({ insight }: Pick<DataDependencies, 'insight'>): EditGuard {
  return {
    schedule({ destination, payloadBytes }, { endpoint }) {
      if (endpoint === undefined || destination.kind !== 'inline' || payloadBytes === 0) return;
      if (isOtherDestination(destination.url, endpoint)) throw new ControlRefusal('destination_guarded');
    },

    async profile({ partition, id, url, headerNames }, edit) {
      if (edit.url === undefined || !isOtherDestination(url, edit.url)) return;
      if (headerNames.length > 0 || (await insight.hasPayloads(partition, id))) {
        throw new ControlRefusal('destination_guarded');
      }
    },
  };
}

export interface DestinationChange {
  readonly from: string;
  readonly to: string;
}

type Store = DataDependencies['commands']['store'];
type Edit = Pick<ProjectRequest, 'partition'> & {
  readonly params: { readonly id?: string | undefined };
  readonly body: JsonBody;
};
type UrlOf = (store: Store, request: Edit) => Promise<string | null>;

/** The operations that may change a destination: the field that names it, and how the present URL is found. */
const DESTINATION_EDITS: Readonly<
  Partial<Record<OperationId, { readonly field: string; readonly urlOf: UrlOf }>>
> = {
  updateSchedule: { field: 'endpoint', urlOf: urlOfSchedule },
  updateEndpoint: { field: 'url', urlOf: urlOfProfile },
};

/** Returns the present and the new destination. Returns null for an edit that names no destination. */
export async function findDestinationChange(
  { commands: { store } }: Pick<DataDependencies, 'commands'>,
  operation: OperationId,
  request: Edit,
): Promise<DestinationChange | null> {
  const edit = DESTINATION_EDITS[operation];
  const text = edit && request.body[edit.field];
  const to = typeof text === 'string' ? originAndPath(text) : null;
  const url = edit === undefined || to === null ? null : await edit.urlOf(store, request);
  const from = url === null ? null : originAndPath(url);
  return from === null || to === null ? null : { from, to };
}

async function urlOfSchedule(store: Store, { partition, params: { id = '' } }: Edit) {
  const scheduleId = parseId('sch', id);
  const view = scheduleId === null ? null : await store.findSchedule(partition, scheduleId);
  return view?.schedule.destination.kind === 'inline' ? view.schedule.destination.url : null;
}

async function urlOfProfile(store: Store, { partition, params: { id = '' } }: Edit) {
  const endpointId = parseId('ep', id);
  const profile = endpointId === null ? null : await store.findProfile(partition, endpointId);
  return profile?.url ?? null;
}
