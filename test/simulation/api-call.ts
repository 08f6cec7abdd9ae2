/** One call of the API, as its client knows it. */
import type { PlanAction } from '#src/commands/put.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';

export type Rendered =
  | { readonly of: 'schedule'; readonly view: ScheduleView }
  | { readonly of: 'delivery'; readonly delivery: Delivery }
  | { readonly of: 'profile'; readonly profile: EndpointProfile }
  | { readonly of: 'list'; readonly notificationOf: DeliveryId; readonly ids: readonly DeliveryId[] }
  | { readonly of: 'plan'; readonly action: PlanAction; readonly fields: readonly string[] };

export interface ApiCall {
  readonly what: string;
  readonly partition: Partition;
  /** Each call has its own. It is the idempotency key, and what the call creates has it as metadata. */
  readonly label: string;
  /** What the schedule or profile shall send after the call: the label of the call that asked for that first. */
  readonly contentOf?: string;
  /** The schedule that the call triggers. */
  readonly triggers?: ScheduleId;
  /** The delivery that the call cancels. */
  readonly cancels?: DeliveryId;
  /** The profile that the call wants to be notified, if there is one. */
  readonly notifies?: EndpointId | null;
  readonly calledMs: number;
  /** The object in the answer, or null for a refusal. */
  readonly rendered: Rendered | null;
  readonly error: Error | null;
  readonly replayed: boolean;
  /** The answer says that nothing was written. */
  readonly isUnchanged: boolean;
}
