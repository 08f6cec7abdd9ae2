/**
 * The filters of every list. The service ignores a filter that it does not know, so a misspelt one would list
 * everything. TypeScript finds it; a JavaScript caller gets a sentence that names the filter that was meant.
 */
import type * as Api from '../api-types.ts';
import { checkNames, type NamesOf } from './known-names.ts';

const PAGE = { cursor: true, limit: true } as const;

export const FILTERS = {
  'schedules.list': {
    ...PAGE,
    state: true,
    kind: true,
    name: true,
    endpoint_id: true,
    q: true,
    metadata: true,
  } satisfies NamesOf<Api.ListSchedulesQuery>,
  'schedules.deliveries': PAGE satisfies NamesOf<Api.ListScheduleDeliveriesQuery>,
  'endpoints.list': { ...PAGE, include_archived: true } satisfies NamesOf<Api.ListEndpointsQuery>,
  'deliveries.list': {
    ...PAGE,
    status: true,
    schedule_id: true,
    endpoint_id: true,
    replay_of: true,
    notification_of: true,
    created_after: true,
    created_before: true,
  } satisfies NamesOf<Api.ListDeliveriesQuery>,
  'attempts.list': {
    ...PAGE,
    outcome: true,
    endpoint_id: true,
  } satisfies NamesOf<Api.ListRecentAttemptsQuery>,
  'deliveries.attempts': PAGE satisfies NamesOf<Api.ListAttemptsQuery>,
} as const;

/** The name of a call that lists. */
export type ListName = keyof typeof FILTERS;

export function checkFilters(call: ListName, query: object): void {
  checkNames(call, 'filter', query, Object.keys(FILTERS[call]));
}
