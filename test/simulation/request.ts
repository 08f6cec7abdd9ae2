/** A request of a customer. It stays the same when it is repeated. */
import type { Commands, MakeReceipt, Render, RenderedAnswer } from '#src/commands/command.ts';
import type { Idempotency } from '#src/commands/idempotency.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import type { ApiCall, Rendered } from './api-call.ts';

export interface Service {
  readonly commands: Commands;
  readonly idempotency: Idempotency;
}

export type Show = (rendered: Rendered) => RenderedAnswer;

/** What checkers know of a request before it is answered. */
export type RequestFacts = Pick<
  ApiCall,
  'what' | 'label' | 'contentOf' | 'triggers' | 'cancels' | 'notifies'
>;

export interface Request extends RequestFacts {
  readonly partition: Partition;
  /** How a client without an answer repeats it. */
  readonly repeats: 'with_its_key' | 'as_it_is' | 'never';
  readonly send: (service: Service, keep: MakeReceipt, show: Show) => Promise<RenderedAnswer>;
}

export function viewed(show: Show): Render<ScheduleView> {
  return (view) => show({ of: 'schedule', view });
}

export function profiled(show: Show): Render<EndpointProfile> {
  return (profile) => show({ of: 'profile', profile });
}

export function delivered(show: Show): Render<Delivery> {
  return (delivery) => show({ of: 'delivery', delivery });
}
