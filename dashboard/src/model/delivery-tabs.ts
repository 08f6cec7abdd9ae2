/**
 * The tabs of the deliveries: the attempts that ended, what waits, what ended. The tab is in the address. An address
 * without one, such as a link to the dead letters, opens the tab that has them.
 */
import type { RecentAttempt } from '../../../sdk/src/api-types.ts';
import {
  type DeliveryFilter,
  deliveryQuery,
  queryOf,
  readDeliveryFilter,
  readEndpointId,
} from './filters.ts';
import type { DeliveryStatus } from './status.ts';

export const TABS = ['activity', 'waiting', 'ended'] as const;
export type Tab = (typeof TABS)[number];

export const TAB_LABELS: Readonly<Record<Tab, string>> = {
  activity: 'Activity',
  waiting: 'Waiting',
  ended: 'Ended',
};

export const TAB_STATUSES: Readonly<Record<Exclude<Tab, 'activity'>, readonly DeliveryStatus[]>> = {
  waiting: ['claimed', 'scheduled', 'retry_scheduled', 'paused'],
  ended: ['succeeded', 'dead_letter', 'expired', 'canceled'],
};

export type Outcome = RecentAttempt['outcome'];
export const OUTCOMES: readonly Outcome[] = ['success', 'retryable', 'terminal'];

export function readTab(query: URLSearchParams): Tab {
  const named = TABS.find((tab) => tab === query.get('tab'));
  if (named !== undefined) return named;
  const { status, scheduleId, range, after, before } = readDeliveryFilter(query);
  if (status !== null) return TAB_STATUSES.ended.includes(status) ? 'ended' : 'waiting';
  // Attempts have no filter by schedule and by time.
  return scheduleId !== null || range !== null || after !== null || before !== null ? 'ended' : 'activity';
}

export function readOutcome(query: URLSearchParams): Outcome | null {
  return OUTCOMES.find((outcome) => outcome === query.get('outcome')) ?? null;
}

/** The query of a tab with the filters that another tab has in common with it. */
export function tabQuery(tab: Tab, query: URLSearchParams): URLSearchParams {
  const endpoint = readEndpointId(query.get('endpoint'));
  if (tab === 'activity') return queryOf({ endpoint });
  const kept = ['schedule', 'range', 'after', 'before'].map((name) => [name, query.get(name)] as const);
  return queryOf({ tab, endpoint, ...Object.fromEntries(kept) });
}

/** A status of another tab is left out, so that the page never shows nothing for a reason that nobody sees. */
export function filterOfTab(tab: Exclude<Tab, 'activity'>, query: URLSearchParams): DeliveryFilter {
  const filter = readDeliveryFilter(query);
  const isHere = filter.status !== null && TAB_STATUSES[tab].includes(filter.status);
  return isHere ? filter : { ...filter, status: null };
}

/** The query of `search/deliveries`. */
export function searchQuery(
  tab: Exclude<Tab, 'activity'>,
  filter: DeliveryFilter,
  nowMs: number,
): Readonly<Record<string, string | null>> {
  return { group: tab, endpoint_id: filter.endpointId, ...deliveryQuery(filter, nowMs) };
}

/** The path of the page of an object, or of the lookup of an attempt. Null for a text that is no id. */
export function findId(text: string): { readonly page: string } | { readonly attempt: string } | null {
  const [id, kind = ''] = /^(dlv|sch|ep|att|job|inc)_[0-9a-z]{26}$/.exec(text.trim()) ?? [];
  if (id === undefined) return null;
  const folder = FOLDERS[kind];
  return folder === undefined ? { attempt: id } : { page: `${folder}/${id}` };
}

const FOLDERS: Readonly<Record<string, string>> = {
  dlv: 'deliveries',
  sch: 'schedules',
  ep: 'endpoints',
  job: 'replays',
  inc: 'alerts',
};
