/** One call of the API, as its client knows it. */
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';

export type Rendered =
  | { readonly of: 'schedule'; readonly view: ScheduleView }
  | { readonly of: 'delivery'; readonly delivery: Delivery }
  | { readonly of: 'profile'; readonly profile: EndpointProfile };

export interface ApiCall {
  readonly what: string;
  /** The metadata label of what the call creates. */
  readonly label: string;
  readonly calledMs: number;
  /** The object in the answer, or null for a refusal. */
  readonly rendered: Rendered | null;
  readonly error: Error | null;
  readonly replayed: boolean;
}
