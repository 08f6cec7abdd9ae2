/** Deliberate bugs of notifications of outcomes. */
import type { Delivery, DeliveryStatus } from '#src/domain/delivery.ts';
import { isTerminal } from '#src/domain/delivery-lifecycle.ts';
import { NOTIFICATION_LIMIT } from '#src/domain/gate.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { notificationOf } from '#src/domain/notification.ts';
import type { Notify } from '#src/domain/notify.ts';
import type { Partition } from '#src/domain/project.ts';
import type { EndWrite, LoadedDelivery, ScheduleAddition, SettleWrite } from '#src/ports/store.ts';
import type { Step } from '#src/store/sql/steps.ts';
import { STATEMENTS } from '#src/store/sqlite/statements.ts';
import { alteringLoads, type Bug, overriding, type Patch, untoldRecovery } from './bug-tools.ts';
import type { Observer } from './observer.ts';
import type { AnyStore } from './watched-store.ts';

/** Those of the customers of a simulation are among them. */
const PARTITIONS = [1, 2, 3, 4, 5, 6, 7, 8] as readonly number[] as readonly Partition[];

type Ending = SettleWrite | EndWrite;
type Store = NonNullable<Bug['store']>;

/** The position of the id in the step `insertDelivery`. */
const DELIVERY_ID = 3;

/** Changes how attempts end, and deliveries without one. */
function endingOtherwise(change: <W extends Ending>(write: W, store: AnyStore) => Promise<W>): Store {
  return overriding<AnyStore>((store) => ({
    settle: async (writes) => store.settle(await Promise.all(writes.map((write) => change(write, store)))),
    endUnsent: async (writes, fence) =>
      store.endUnsent(await Promise.all(writes.map((write) => change(write, store))), fence),
  }));
}

/** Tells of an end that nobody wants to be told. */
function tellingOf(isMeant: (delivery: Delivery) => boolean): Store {
  return endingOtherwise(async (write, store) => {
    const { delivery, notification = null } = write;
    if (notification !== null || !isTerminal(delivery.status) || !isMeant(delivery)) return write;
    const endpointId = delivery.notify?.endpointId ?? delivery.target.endpointId;
    const source = endpointId && (await store.findNotificationSource(delivery.partition, endpointId, null));
    if (!source) return write;
    const { profile } = source;
    const terms = { id: otherId(delivery.id), profile, quotedBytes: 0 };
    return {
      ...write,
      notification: notificationOf(delivery, terms, delivery.finalizedAt ?? delivery.createdAt),
    };
  });
}

function otherId(id: DeliveryId): DeliveryId {
  return `${id.slice(0, -4)}zzzz` as DeliveryId;
}

/** New schedules give their delivery another `notify`. */
function creatingWith(notifyOf: (addition: ScheduleAddition) => Notify | null | undefined): Store {
  return overriding<AnyStore>((store) => ({
    addSchedule(addition) {
      const { on = [], endpointId = null } = notifyOf(addition) ?? {};
      if (endpointId === null || on.length === 0) return store.addSchedule(addition);
      return store.addSchedule({ ...addition, pending: { ...addition.pending, notify: { endpointId, on } } });
    },
  }));
}

/** The removal of one delivery also removes an older one of which a notification has yet to tell. */
function removingUntold(steps: readonly Step[], observer: Observer): readonly Step[] {
  const removed = steps.find(([name]) => name === 'removeDelivery');
  if (removed === undefined) return steps;
  const limit = observer.deliveries.get(removed[3] as DeliveryId)?.finalizedAt ?? 0;
  const untold = [...observer.open].flatMap((id) => {
    const of = observer.deliveries.get(id)?.notificationOf ?? null;
    const told = of === null ? undefined : observer.deliveries.get(of);
    return told !== undefined && (told.finalizedAt ?? limit) < limit ? [told] : [];
  });
  return [
    ...steps,
    ...untold.map((told): Step => ['removeDelivery', null, told.partition, told.id, told.revision]),
  ];
}

/** The statement that removes a delivery does not ask whether it was told. */
const removingUnasked: Patch = () => {
  const own = STATEMENTS.removeDelivery;
  const at = own.sql.indexOf(' AND (deliveries.notify');
  if (at < 0) throw new Error('There is no condition to remove.');
  Object.assign(STATEMENTS, { removeDelivery: { ...own, sql: own.sql.slice(0, at) } });
  return () => Object.assign(STATEMENTS, { removeDelivery: own });
};

function withLimit(limit: Partial<typeof NOTIFICATION_LIMIT>): Patch {
  return () => {
    const own = { ...NOTIFICATION_LIMIT };
    Object.assign(NOTIFICATION_LIMIT, limit);
    return () => Object.assign(NOTIFICATION_LIMIT, own);
  };
}

export const NOTIFICATION_BUGS: Readonly<Record<string, Bug>> = {
  'the end of an attempt is not told': {
    caughtBy: ['notifications'],
    store: overriding<AnyStore>((store) => ({
      settle: (writes) => store.settle(writes.map((write) => ({ ...write, notification: null }))),
    })),
  },
  'an end without an attempt is not told': {
    caughtBy: ['notifications'],
    firstSeed: 5,
    store: overriding<AnyStore>((store) => ({
      endUnsent: (writes, fence) =>
        store.endUnsent(
          writes.map((write) => ({ ...write, notification: null })),
          fence,
        ),
    })),
  },
  'an expiry by a resume is not told': {
    caughtBy: ['notifications'],
    firstSeed: 14,
    store: overriding<AnyStore>((store) => ({
      replaceSchedule: (replacement) => store.replaceSchedule({ ...replacement, notification: null }),
    })),
  },
  'recovery does not tell': {
    caughtBy: ['notifications'],
    firstSeed: 11,
    store: overriding<AnyStore>(untoldRecovery),
  },
  'an end is told twice': {
    caughtBy: ['notifications'],
    steps: (steps) =>
      steps.flatMap((step): readonly Step[] => {
        const isTold = step[0] === 'insertDelivery' && steps.some(([name]) => name === 'settleDelivery');
        if (!isTold) return [step];
        return [step, step.with(DELIVERY_ID, otherId(step[DELIVERY_ID] as DeliveryId)) as unknown as Step];
      }),
  },
  'an end is told once more a moment later': {
    caughtBy: ['notifications'],
    store: overriding<AnyStore>((store) => ({
      async settle(writes) {
        const answers = await store.settle(writes);
        for (const { notification } of writes) {
          if (notification == null) continue;
          const delivery = {
            ...notification,
            id: otherId(notification.id),
            idempotencyKey: otherId(notification.id),
          };
          void store.addReplay({ delivery, receipt: null });
        }
        return answers;
      },
    })),
  },
  'an outcome is told that is not wanted': {
    caughtBy: ['notifications'],
    firstSeed: 3,
    store: tellingOf(({ status, notify }) => status !== 'canceled' && notify !== null),
  },
  'a cancel is told': {
    caughtBy: ['notifications'],
    firstSeed: 13,
    store: overriding<AnyStore>((store) => ({
      async replaceSchedule(replacement) {
        const { pending } = replacement;
        const { notify = null } = pending ?? {};
        if (pending?.status !== 'canceled' || notify === null) return store.replaceSchedule(replacement);
        const source = await store.findNotificationSource(pending.partition, notify.endpointId, null);
        if (source === null) return store.replaceSchedule(replacement);
        const terms = { id: otherId(pending.id), profile: source.profile, quotedBytes: 0 };
        const notification = notificationOf(pending, terms, pending.finalizedAt ?? pending.createdAt);
        return store.replaceSchedule({ ...replacement, notification });
      },
    })),
  },
  'a notification is told of': {
    caughtBy: ['notifications'],
    store: tellingOf(({ notificationOf: of }) => of !== null),
  },
  'an opt-out is ignored': {
    caughtBy: ['notifications'],
    firstSeed: 2,
    store: creatingWith(({ schedule, profile }) =>
      schedule.notify?.on.length === 0 ? profile?.notify : undefined,
    ),
  },
  'what the profile wants counts for more than what the schedule wants': {
    caughtBy: ['notifications'],
    firstSeed: 2,
    store: creatingWith(({ profile }) => profile?.notify),
  },
  'what the profile wants is forgotten': {
    caughtBy: ['notifications'],
    firstSeed: 28,
    store: alteringLoads(({ profile }: LoadedDelivery) => ({
      profile: profile && { ...profile, notify: null },
    })),
  },
  'a PATCH or PUT does not reach whom the pending delivery notifies': {
    caughtBy: ['notifications'],
    firstSeed: 3,
    store: overriding<AnyStore>((store) => ({
      async replaceSchedule(replacement) {
        const { schedule, pending } = replacement;
        const view = await store.findSchedule(schedule.partition, schedule.id);
        const notify = view?.pending?.notify;
        if (pending === null || notify === undefined) return store.replaceSchedule(replacement);
        return store.replaceSchedule({ ...replacement, pending: { ...pending, notify } });
      },
    })),
  },
  'a replay notifies as its schedule wants now': {
    caughtBy: ['notifications'],
    firstSeed: 2,
    store: overriding<AnyStore>((store) => ({
      async addReplay(addition) {
        const { delivery } = addition;
        const { partition, scheduleId } = delivery;
        const view = scheduleId === null ? null : await store.findSchedule(partition, scheduleId);
        const { endpointId = null, on = [] } = view?.schedule.notify ?? {};
        const notify = endpointId === null || on.length === 0 ? null : { endpointId, on };
        return store.addReplay(view === null ? addition : { ...addition, delivery: { ...delivery, notify } });
      },
    })),
  },
  'the first claim of a notification keeps the version of its creation': {
    caughtBy: ['notifications', 'payloads'],
    firstSeed: 16,
    store: overriding<AnyStore>((store) => {
      const stored = new Map<DeliveryId, Delivery>();
      return {
        async loadDeliveries(deliveries) {
          const all = await store.loadDeliveries(deliveries);
          for (const one of all) if (one !== null) stored.set(one.delivery.id, one.delivery);
          return all;
        },
        claim: (writes, fence) =>
          store.claim(
            writes.map((write) => {
              const { id, notificationOf: of } = write.delivery;
              const before = stored.get(id);
              if (of === null || before === undefined) return write;
              const { target, retryPolicy } = before;
              return { ...write, delivery: { ...write.delivery, target, retryPolicy } };
            }),
            fence,
          ),
      };
    }),
  },
  'a notification tells of the wrong end': {
    caughtBy: ['notifications'],
    store: overriding<AnyStore>((store) => ({
      async findNotificationSubject(partition, id, attemptsMax) {
        const subject = await store.findNotificationSubject(partition, id, attemptsMax);
        return subject && { ...subject, attempts: subject.attempts.slice(0, -1) };
      },
    })),
  },
  'a list of what tells of a delivery leaves replays out': {
    caughtBy: ['notifications'],
    firstSeed: 13,
    store: overriding<AnyStore>((store) => ({
      async listDeliveries(partition, filter, page) {
        const found = await store.listDeliveries(partition, filter, page);
        return found.filter(({ replayOf }) => replayOf === null);
      },
    })),
  },
  'a notification can be paused': {
    caughtBy: ['notifications'],
    store: endingOtherwise(async (write) => {
      const { delivery } = write;
      const isMeant = delivery.notificationOf !== null && delivery.status === 'retry_scheduled';
      const status: DeliveryStatus = 'paused';
      return isMeant ? { ...write, delivery: { ...delivery, status } } : write;
    }),
  },
  'a profile is archived although it is notified': {
    caughtBy: ['notifications'],
    firstSeed: 37,
    steps: (steps) => steps.filter(([name]) => name !== 'profileUnused'),
  },
  'another customer can be notified': {
    caughtBy: ['notifications'],
    firstSeed: 7,
    store: overriding<AnyStore>((store) => ({
      async findProfile(partition, id) {
        for (const one of [partition, ...PARTITIONS]) {
          const profile = await store.findProfile(one, id);
          if (profile !== null) return profile;
        }
        return null;
      },
    })),
  },
  'retention removes a delivery before it is told': {
    caughtBy: ['notifications'],
    firstSeed: 88,
    steps: removingUntold,
    patch: removingUnasked,
  },
  'retention never removes a delivery that was told': {
    caughtBy: ['notifications'],
    firstSeed: 12,
    steps: (steps, observer) => {
      const removed = steps.find(([name]) => name === 'removeDelivery');
      const delivery = observer.deliveries.get(removed?.[3] as DeliveryId);
      return (delivery?.notify ?? null) === null ? steps : [];
    },
  },
  'the rate limit of notifications is forgotten': {
    caughtBy: ['rate'],
    firstSeed: 12,
    patch: withLimit({ perSecond: 0 }),
  },
  'notifications share the rate limit of schedules': {
    caughtBy: ['reservations', 'rate'],
    patch: withLimit({ limiter: '50' }),
  },
};
