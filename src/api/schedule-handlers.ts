import { type Commands, requireFound } from '#src/commands/command.ts';
import { getNamedSchedule, putSchedule } from '#src/commands/named-schedules.ts';
import {
  applyScheduleAction,
  createSchedule,
  editSchedule,
  rescheduleSchedule,
  type ScheduleAction,
} from '#src/commands/schedules.ts';
import { triggerSchedule } from '#src/commands/trigger.ts';
import { listDeliveriesIn } from './delivery-list.ts';
import {
  type Handler,
  type HandlerSettings,
  type Handlers,
  json,
  planOf,
  requireName,
  scheduleAs,
} from './handler.ts';
import { readPage } from './lists.ts';
import { presentSchedule } from './present.ts';
import { readReschedule, readScheduleCreate, readSchedulePut, readScheduleUpdate } from './read-bodies.ts';
import { listSchedules } from './schedule-list.ts';

export function scheduleHandlers(
  commands: Commands,
  { httpAllowed, guard, showDelivery, hidesQueries }: HandlerSettings,
) {
  const { store } = commands;

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
  } satisfies Handlers;
}
