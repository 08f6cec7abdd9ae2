/** Implements each operation: parse the call, run the command or the query, present the result. */
import { openResponse } from '#src/commands/attempt-response.ts';
import { type Commands, type Render, type RenderedAnswer, requireFound } from '#src/commands/command.ts';
import { cancelDelivery, replayDelivery } from '#src/commands/deliveries.ts';
import type { IdempotentAnswer } from '#src/commands/idempotency.ts';
import { getNamedProfile, putProfile } from '#src/commands/named-profiles.ts';
import { getNamedSchedule, putSchedule } from '#src/commands/named-schedules.ts';
import { archiveProfile, createProfile, editProfile, type ProfileFields } from '#src/commands/profiles.ts';
import type { RenderPlan } from '#src/commands/put.ts';
import type { RollingUpgrade } from '#src/commands/rolling-upgrade.ts';
import {
  applyScheduleAction,
  createSchedule,
  editSchedule,
  rescheduleSchedule,
  type ScheduleAction,
} from '#src/commands/schedules.ts';
import { triggerSchedule } from '#src/commands/trigger.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import { isName } from '#src/domain/name.ts';
import type { Mode } from '#src/domain/project.ts';
import type { Schedule, ScheduleView } from '#src/domain/schedule.ts';
import type { ScheduleEdit } from '#src/domain/schedule-lifecycle.ts';
import { nameFaultText, unknownParameterText } from '#src/texts/field-fault-text.ts';
import { listRecentAttempts } from './attempt-list.ts';
import type { Call } from './call.ts';
import type { OperationId } from './contract/operations.ts';
import type { PlanResource } from './contract/resources.ts';
import { listDeliveries, listDeliveriesIn } from './delivery-list.ts';
import { answerPage, answerSmallPage, readPage } from './lists.ts';
import {
  presentAttempt,
  presentDelivery,
  presentProfile,
  presentResponse,
  presentSchedule,
} from './present.ts';
import { readChoice } from './query.ts';
import {
  readEndpointCreate,
  readEndpointPut,
  readEndpointUpdate,
  readReschedule,
  readScheduleCreate,
  readSchedulePut,
  readScheduleUpdate,
} from './read-bodies.ts';
import { listSchedules } from './schedule-list.ts';

export type Handler = (call: Call) => Promise<RenderedAnswer | IdempotentAnswer>;

function json(status: number, resource: object): RenderedAnswer {
  return { status, body: JSON.stringify(resource) };
}

function scheduleAs(status: number, mode: Mode): Render<ScheduleView> {
  return (view) => json(status, presentSchedule(view, mode));
}

function profileAs(status: number, mode: Mode): Render<EndpointProfile> {
  return (profile) => json(status, presentProfile(profile, mode));
}

function requireName(name: string): string {
  if (!isName(name)) throw new Refusal('invalid_name', 'name', nameFaultText(name));
  return name;
}

/** The plan of a request with `dry_run=true`. All given fields of an object that would be created differ. */
function planOf(call: Call): RenderPlan | null {
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

/** Throws to refuse an edit when it is known what it would change. */
export interface EditGuard {
  schedule(schedule: Schedule, edit: ScheduleEdit): void;
  profile(profile: EndpointProfile, edit: Partial<ProfileFields>): Promise<void>;
}

export interface HandlerOptions {
  readonly httpAllowed: boolean;
  readonly upgrade: Pick<RollingUpgrade, 'requireSince'>;
  /** Presents a delivery, by default as customers see it. */
  readonly showDelivery?: (delivery: Delivery, mode: Mode) => object;
  /** True when URLs are searched in the form that viewers see. They could guess a query one character at a time. */
  readonly hidesQueries?: boolean;
  /** The API of customers has none. */
  readonly guard?: EditGuard;
}

/** A call that uses what older versions of the program do not know waits until no node has one. */
export function handlers(
  commands: Commands,
  options: HandlerOptions,
): Readonly<Record<OperationId, Handler>> {
  const { upgrade } = options;
  const gated = Object.entries(ungatedHandlers(commands, options)).map(([id, handle]): [string, Handler] => [
    id,
    (call) => {
      const { since } = call;
      return since === null ? handle(call) : upgrade.requireSince(since).then(() => handle(call));
    },
  ]);
  return Object.fromEntries(gated) as Readonly<Record<OperationId, Handler>>;
}

function ungatedHandlers(
  commands: Commands,
  { httpAllowed, showDelivery = presentDelivery, hidesQueries = false, guard }: HandlerOptions,
): Readonly<Record<OperationId, Handler>> {
  const { store, pause } = commands;

  function actionHandler(action: ScheduleAction): Handler {
    return (call) =>
      applyScheduleAction(
        commands,
        call.tenant.partition,
        call.id('sch'),
        action,
        scheduleAs(200, call.tenant.mode),
        () => call.fields(),
      );
  }

  return {
    createSchedule: (call) =>
      call.once((keep) =>
        createSchedule(
          commands,
          call.tenant.partition,
          (now) => readScheduleCreate(call.fields(), now, httpAllowed),
          scheduleAs(201, call.tenant.mode),
          keep,
        ),
      ),

    listSchedules: (call) => listSchedules(commands, call, hidesQueries),

    getSchedule: (call) =>
      call.answer(async () => {
        const id = call.id('sch');
        const view = requireFound(await store.findSchedule(call.tenant.partition, id), id);
        return json(200, presentSchedule(view, call.tenant.mode));
      }),

    updateSchedule: (call) =>
      call.once((keep) =>
        editSchedule(
          commands,
          call.tenant.partition,
          call.id('sch'),
          (schedule) => {
            const edit = readScheduleUpdate(call.fields(), schedule, httpAllowed);
            guard?.schedule(schedule, edit);
            return edit;
          },
          scheduleAs(200, call.tenant.mode),
          keep,
        ),
      ),

    rescheduleSchedule: (call) =>
      call.once((keep) =>
        rescheduleSchedule(
          commands,
          call.tenant.partition,
          call.id('sch'),
          (now) => readReschedule(call.fields(), now),
          scheduleAs(200, call.tenant.mode),
          keep,
        ),
      ),

    pauseSchedule: actionHandler('pause'),
    resumeSchedule: actionHandler('resume'),
    cancelSchedule: actionHandler('cancel'),

    listScheduleDeliveries: async (call) => {
      const scheduleId = call.id('sch');
      requireFound(await store.findSchedule(call.tenant.partition, scheduleId), scheduleId);
      const page = readPage(call.query, call.tenant.partition, `deliveries of ${scheduleId}`, 'dlv');
      return listDeliveriesIn(commands, call, showDelivery, page, {
        scheduleId,
        status: null,
        createdAfter: null,
        createdBefore: null,
      });
    },

    createEndpoint: (call) =>
      call.once((keep) =>
        createProfile(
          commands,
          call.tenant.partition,
          () => readEndpointCreate(call.fields(), httpAllowed),
          profileAs(201, call.tenant.mode),
          keep,
        ),
      ),

    listEndpoints: async ({ tenant, query, answer }) => {
      const page = readPage(query, tenant.partition, 'endpoints', 'ep');
      const includeArchived = readChoice(query, 'include_archived', ['true', 'false']) === 'true';
      return answer((bytesMax) =>
        answerPage(
          { ...page, bytesMax },
          (before, limit) => store.listProfiles(tenant.partition, includeArchived, { before, limit }),
          (profile) => ({ position: profile.id, resource: presentProfile(profile, tenant.mode) }),
          (length) => pause(tenant.partition, length),
        ),
      );
    },

    getEndpoint: (call) =>
      call.answer(async () => {
        const id = call.id('ep');
        const profile = requireFound(await store.findProfile(call.tenant.partition, id), id);
        return json(200, presentProfile(profile, call.tenant.mode));
      }),

    updateEndpoint: (call) =>
      call.once((keep) =>
        editProfile(
          commands,
          call.tenant.partition,
          call.id('ep'),
          async (profile) => {
            const edit = readEndpointUpdate(call.fields(), httpAllowed);
            await guard?.profile(profile, edit);
            return edit;
          },
          profileAs(200, call.tenant.mode),
          keep,
        ),
      ),

    archiveEndpoint: (call) =>
      archiveProfile(commands, call.tenant.partition, call.id('ep'), profileAs(200, call.tenant.mode), () =>
        call.fields(),
      ),

    listDeliveries: (call) => listDeliveries(commands, call, showDelivery),

    getDelivery: async (call) => {
      const id = call.id('dlv');
      const delivery = requireFound(await store.findDelivery(call.tenant.partition, id), id);
      return json(200, showDelivery(delivery, call.tenant.mode));
    },

    replayDelivery: (call) =>
      call.once((keep) =>
        replayDelivery(
          commands,
          call.tenant.partition,
          call.id('dlv'),
          (delivery) => json(201, showDelivery(delivery, call.tenant.mode)),
          keep,
          () => call.fields(),
        ),
      ),

    putSchedule: (call) => {
      const name = requireName(call.name);
      return putSchedule(
        commands,
        call.tenant.partition,
        name,
        (now, present) => readSchedulePut(call.fields(), { now, httpAllowed, name, present }),
        {
          created: scheduleAs(201, call.tenant.mode),
          present: scheduleAs(200, call.tenant.mode),
          plan: planOf(call),
        },
      );
    },

    getNamedSchedule: (call) =>
      call.answer(async () =>
        json(
          200,
          presentSchedule(
            await getNamedSchedule(commands, call.tenant.partition, call.name),
            call.tenant.mode,
          ),
        ),
      ),

    triggerSchedule: (call) =>
      call.once((keep) =>
        triggerSchedule(
          commands,
          call.tenant.partition,
          call.id('sch'),
          {
            added: (delivery) => json(201, showDelivery(delivery, call.tenant.mode)),
            moved: (delivery) => json(200, showDelivery(delivery, call.tenant.mode)),
          },
          keep,
          () => call.fields(),
        ),
      ),

    putEndpoint: (call) => {
      const name = requireName(call.name);
      return putProfile(
        commands,
        call.tenant.partition,
        name,
        () => readEndpointPut(call.fields(), httpAllowed, name),
        {
          created: profileAs(201, call.tenant.mode),
          present: profileAs(200, call.tenant.mode),
          plan: planOf(call),
        },
      );
    },

    getNamedEndpoint: (call) =>
      call.answer(async () =>
        json(
          200,
          presentProfile(await getNamedProfile(commands, call.tenant.partition, call.name), call.tenant.mode),
        ),
      ),

    cancelDelivery: (call) =>
      cancelDelivery(
        commands,
        call.tenant.partition,
        call.id('dlv'),
        (delivery) => json(200, showDelivery(delivery, call.tenant.mode)),
        () => call.fields(),
      ),

    getAttemptResponse: (call) =>
      call.answer(async () =>
        json(
          200,
          presentResponse(
            await openResponse(commands, call.tenant.partition, call.id('dlv'), call.attemptNo),
          ),
        ),
      ),
    listRecentAttempts: (call) => listRecentAttempts(commands, call),

    listAttempts: async (call) => {
      const id = call.id('dlv');
      requireFound(await store.findDelivery(call.tenant.partition, id), id);
      const page = readPage(call.query, call.tenant.partition, `attempts of ${id}`, 'attempt_no');
      return call.answer((bytesMax) =>
        answerSmallPage(
          { ...page, bytesMax },
          (after, limit) => store.listAttempts(call.tenant.partition, id, after ?? 0, limit),
          (attempt) => ({ position: attempt.attemptNo, resource: presentAttempt(attempt) }),
          (length) => pause(call.tenant.partition, length),
        ),
      );
    },
  };
}
