/**
 * The state of the inbox page. Each event of the stream replaces what the page knew about its arrival. A page that was
 * disconnected is therefore right again when it has caught up, and receiving an event twice changes nothing.
 */
import type { About, AnswerMode, ArrivalSummary, InboxEvents } from '../../../src/inbox/contract.ts';

export type InboxEvent = {
  readonly [Name in keyof InboxEvents]: { readonly name: Name; readonly data: InboxEvents[Name] };
}[keyof InboxEvents];

export interface InboxState {
  readonly arrivals: ReadonlyMap<number, ArrivalSummary>;
  readonly selected: number | null;
  /** Whether the newest arrival is selected automatically, until the user selects another one. */
  readonly isFollowing: boolean;
  readonly mode: AnswerMode;
  /** Null until the stream is open. */
  readonly about: About | null;
}

export const UNCONNECTED: InboxState = {
  arrivals: new Map(),
  selected: null,
  isFollowing: true,
  mode: { answer: '200', times: null },
  about: null,
};

export function receive(state: InboxState, event: InboxEvent): InboxState {
  return dropBefore(replace(state, event), event.data.first);
}

function replace(state: InboxState, event: InboxEvent): InboxState {
  switch (event.name) {
    case 'hello': {
      const { data } = event;
      return { ...(data.isNew ? UNCONNECTED : state), about: data, mode: data.answer };
    }
    case 'answer':
      return { ...state, mode: event.data.answer };
    case 'arrival': {
      const { arrival } = event.data;
      const arrivals = new Map(state.arrivals).set(arrival.number, arrival);
      const isNewest = state.isFollowing && arrival.number > (state.selected ?? 0);
      return { ...state, arrivals, selected: isNewest ? arrival.number : state.selected };
    }
    case 'cleared':
      return state;
  }
}

function dropBefore(state: InboxState, first: number): InboxState {
  const kept = [...state.arrivals].filter(([number]) => number >= first);
  if (kept.length === state.arrivals.size) return state;
  const arrivals = new Map(kept);
  const isKept = state.selected !== null && arrivals.has(state.selected);
  return isKept ? { ...state, arrivals } : { ...state, arrivals, selected: null, isFollowing: true };
}

export function select(state: InboxState, number: number): InboxState {
  return { ...state, selected: number, isFollowing: number === Math.max(...state.arrivals.keys()) };
}

/** The newest arrival comes first. */
export function listed({ arrivals }: InboxState): readonly ArrivalSummary[] {
  return [...arrivals.values()].sort((one, other) => other.number - one.number);
}

/** All arrivals of the same delivery, including this one, the oldest first. */
export function attemptsOf(
  { arrivals }: InboxState,
  { delivery }: ArrivalSummary,
): readonly ArrivalSummary[] {
  if (delivery === null) return [];
  return [...arrivals.values()]
    .filter((other) => other.delivery?.id === delivery.id)
    .sort((one, other) => one.number - other.number);
}
