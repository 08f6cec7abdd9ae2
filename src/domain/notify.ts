/**
 * Where a customer wants to be told how deliveries ended. A schedule or an endpoint profile says it, and a delivery keeps
 * what holds for it when it is materialized.
 */
import type { EndpointId } from './id.ts';

/** The outcomes that can be told, which are statuses of deliveries that ended. */
export const NOTIFIED_OUTCOMES = ['succeeded', 'dead_letter', 'expired'] as const;
export type NotifiedOutcome = (typeof NOTIFIED_OUTCOMES)[number];

export interface Notify {
  /** The endpoint profile that is told. Null only without outcomes. */
  readonly endpointId: EndpointId | null;
  /** In the order of `NOTIFIED_OUTCOMES`. None: nothing is told, even if the endpoint profile wants it. */
  readonly on: readonly NotifiedOutcome[];
}

/** A `Notify` that tells something. */
export interface ActiveNotify extends Notify {
  readonly endpointId: EndpointId;
}

interface Notifying {
  readonly notify: Notify | null;
}

/** Returns what holds for a new delivery. The schedule wins over the profile. */
export function notifyOf(schedule: Notifying, profile: Notifying | null): ActiveNotify | null {
  const notify = schedule.notify ?? profile?.notify ?? null;
  return notify !== null && notify.on.length > 0 && notify.endpointId !== null
    ? { ...notify, endpointId: notify.endpointId }
    : null;
}

/** Returns the text that the stores keep: the endpoint profile first, by which they search. */
export function notifyText(notify: Notify | null): string | null {
  return notify === null ? null : [notify.endpointId ?? '', ...notify.on].join(' ');
}

export function parseNotify(text: string | null): Notify | null {
  if (text === null) return null;
  const [endpointId = '', ...on] = text.split(' ');
  return { endpointId: endpointId === '' ? null : (endpointId as EndpointId), on: on as NotifiedOutcome[] };
}
