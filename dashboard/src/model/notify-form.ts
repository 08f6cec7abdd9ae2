/** The form says who is told how deliveries end. It becomes the field `notify` of POST and PATCH. */
import type { Notify } from '../../../sdk/src/api-types.ts';

export type ToldOutcome = Notify['on'][number];

/** In the order of the API. */
export const TOLD_OUTCOMES: readonly ToldOutcome[] = ['succeeded', 'dead_letter', 'expired'];

export interface NotifyForm {
  /** `default`: the field is not set. `nobody`: nobody is told, even if the endpoint profile wants it. */
  readonly choice: 'default' | 'nobody' | 'tell';
  readonly endpointId: string;
  readonly on: readonly ToldOutcome[];
}

/** Most people want to know what failed. */
export const NO_NOTIFY: NotifyForm = {
  choice: 'default',
  endpointId: '',
  on: ['dead_letter', 'expired'],
};

export function notifyFormOf(notify: Notify | null): NotifyForm {
  if (notify === null) return NO_NOTIFY;
  const { endpoint_id: id, on } = notify;
  return on.length === 0
    ? { ...NO_NOTIFY, choice: 'nobody' }
    : { choice: 'tell', endpointId: id ?? '', on: inOrder(on) };
}

/** The value of the field. Null clears it. */
export function notifyBody({ choice, endpointId, on }: NotifyForm) {
  if (choice === 'default') return null;
  return choice === 'nobody' ? { on: [] } : { endpoint_id: endpointId, on: inOrder(on) };
}

/** An error that the page finds without a request. */
export function findNotifyError({ choice, endpointId, on }: NotifyForm): string | null {
  if (choice !== 'tell') return null;
  if (endpointId === '') return 'Choose an endpoint profile.';
  return on.length === 0 ? 'Choose at least one outcome.' : null;
}

function inOrder(on: readonly ToldOutcome[]): readonly ToldOutcome[] {
  return TOLD_OUTCOMES.filter((outcome) => on.includes(outcome));
}
