/** A handler parses a call, runs the command or the query, and presents the result. */
import type { Render, RenderedAnswer } from '#src/commands/command.ts';
import type { IdempotentAnswer } from '#src/commands/idempotency.ts';
import type { ProfileFields } from '#src/commands/profiles.ts';
import type { RenderPlan } from '#src/commands/put.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import { isName } from '#src/domain/name.ts';
import type { Mode } from '#src/domain/project.ts';
import type { Schedule, ScheduleView } from '#src/domain/schedule.ts';
import type { ScheduleEdit } from '#src/domain/schedule-lifecycle.ts';
import { nameFaultText, unknownParameterText } from '#src/texts/field-fault-text.ts';
import type { Call } from './call.ts';
import type { OperationId } from './contract/operations.ts';
import type { PlanResource } from './contract/resources.ts';
import { presentProfile, presentSchedule } from './present.ts';
import { readChoice } from './query.ts';

export type Handler = (call: Call) => Promise<RenderedAnswer | IdempotentAnswer>;
export type Handlers = Readonly<Partial<Record<OperationId, Handler>>>;

/** Throws to refuse an edit when it is known what it would change. */
export interface EditGuard {
  schedule(schedule: Schedule, edit: ScheduleEdit): void;
  profile(profile: EndpointProfile, edit: Partial<ProfileFields>): Promise<void>;
}

export interface HandlerSettings {
  readonly httpAllowed: boolean;
  /** The API of customers has none. */
  readonly guard: EditGuard | undefined;
  readonly showDelivery: (delivery: Delivery, mode: Mode) => object;
  readonly hidesQueries: boolean;
}

export function json(status: number, resource: object): RenderedAnswer {
  return { status, body: JSON.stringify(resource) };
}

export function scheduleAs(status: number, mode: Mode): Render<ScheduleView> {
  return (view) => json(status, presentSchedule(view, mode));
}

export function profileAs(status: number, mode: Mode): Render<EndpointProfile> {
  return (profile) => json(status, presentProfile(profile, mode));
}

export function requireName(name: string): string {
  if (!isName(name)) throw new Refusal('invalid_name', 'name', nameFaultText(name));
  return name;
}

/** The plan of a request with `dry_run=true`. All given fields of an object that would be created differ. */
export function planOf(call: Call): RenderPlan | null {
  // A misspelt dry run would write.
  const other = [...call.query.keys()].find((name) => name !== 'dry_run');
  if (other !== undefined) throw new Refusal('invalid_request', null, unknownParameterText(other, 'dry_run'));
  if (readChoice(call.query, 'dry_run', ['true', 'false']) !== 'true') return null;
  return (action, fields) =>
    json(200, {
      object: 'plan',
      action,
      fields: [...(action === 'create' ? call.givenFields : fields)],
    } satisfies PlanResource);
}
