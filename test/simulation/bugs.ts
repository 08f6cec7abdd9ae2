/**
 * Deliberate bugs prove that the checkers can fail. Each bug stands between the product and one of its ports,
 * and names the checkers that have to catch it.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { FairQueue } from '#src/engine/queue/fair-queue.ts';
import type { Egress } from '#src/ports/egress.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Step } from '#src/store/sql/steps.ts';
import { alteringLoads, type Bug, overriding, type Patch, patched, without } from './bug-tools.ts';
import { NAMED_BUGS } from './named-bugs.ts';
import { NOTIFICATION_BUGS } from './notification-bugs.ts';
import type { Observer } from './observer.ts';
import type { AnyStore } from './watched-store.ts';

/** The position of the attempt's id in the step `claimDelivery`. */
const ATTEMPT_ID = 7;

/** Makes every queue return nothing while `isOver` holds. */
function stopTakingWhile(isOver: (inFlight: number) => boolean): Patch {
  return patched(FairQueue.prototype, 'take', ({ value: take }) => ({
    value(this: FairQueue, ...given: Parameters<FairQueue['take']>) {
      return isOver(this.inFlight) ? [] : Reflect.apply(take, this, given);
    },
  }));
}

/** The bytes of all requests in flight in this thread. */
let bodyBytesInFlight = 0;

/** Counts the body bytes in flight of all customers together. */
function countingBodies(egress: Egress): Egress {
  bodyBytesInFlight = 0;
  return {
    ...egress,
    send(request, onEnd, ...rest) {
      const bytes = request.body?.length ?? 0;
      bodyBytesInFlight += bytes;
      const ended: typeof onEnd = (result) => {
        bodyBytesInFlight -= bytes;
        onEnd(result);
      };
      return egress.send(request, ended, ...rest);
    },
  };
}

const DONE = 'done' as const;
const REVISION_COLUMN_FROM_END = 4;

/** Makes the guard of these steps always hold, so that a row is replaced in any state. */
function unguarded(statements: ReadonlySet<Step[0]>, steps: readonly Step[], observer: Observer) {
  return steps.map((step): Step => {
    if (!statements.has(step[0])) return step;
    const [name, otherwise, ...parameters] = step;
    // A settlement also names the attempt that its delivery must be claimed for.
    const attempt = name === 'settleDelivery' ? [parameters.pop() ?? null] : [];
    const id = parameters.at(-2);
    const delivery = observer.deliveries.get(id as DeliveryId);
    const known = delivery ?? observer.schedules.get(id as ScheduleId) ?? null;
    if (known === null) return step;
    if (attempt.length > 0) attempt[0] = delivery?.claim?.attemptId ?? null;
    // The new revision is the last column that is set, before the three parts of the guard.
    parameters[parameters.length - REVISION_COLUMN_FROM_END] = known.revision + 1;
    parameters[parameters.length - 1] = known.revision;
    return [name, otherwise, ...parameters, ...attempt];
  });
}

const REPLACING_DELIVERIES: ReadonlySet<Step[0]> = new Set([
  'replaceDelivery',
  'claimDelivery',
  'settleDelivery',
  'deferDelivery',
]);

export const BUGS: Readonly<Record<string, Bug>> = {
  'no fencing: a delivery is replaced in any state': {
    caughtBy: ['lifecycle', 'attempts', 'schedules', 'settling', 'sends', 'api', 'punctuality'],
    firstSeed: 12,
    steps: (steps, observer) => unguarded(REPLACING_DELIVERIES, steps, observer),
  },
  'a claim without its condition': {
    caughtBy: ['lifecycle', 'attempts', 'schedules', 'settling', 'sends'],
    firstSeed: 12,
    steps: (steps, observer) => unguarded(new Set(['claimDelivery']), steps, observer),
  },
  'a claim with another id than that of its attempt': {
    // Such an attempt cannot be settled.
    caughtBy: ['attempts', 'lifecycle', 'punctuality', 'stops'],
    steps: (steps) =>
      steps.map((step) =>
        step[0] === 'claimDelivery' ? (step.with(ATTEMPT_ID, 'att_other') as unknown as Step) : step,
      ),
  },
  'settling ignores the state of the schedule': {
    caughtBy: ['settling', 'schedules'],
    firstSeed: 13,
    steps: without('scheduleInState'),
  },
  'a settled attempt leaves no row': {
    caughtBy: ['attempts'],
    steps: without('insertAttempt'),
  },
  'wake-ups are lost: scans find nothing, no hint arrives': {
    caughtBy: ['punctuality'],
    store: overriding<AnyStore>(() => ({ listDue: async () => [] })),
    hints: () => ({ due: () => {}, rescan: () => {} }),
  },
  'scanning ahead finds nothing': {
    caughtBy: ['punctuality'],
    store: overriding<AnyStore>((store) => ({
      listDue: async (after, until, limit) => (after === null ? store.listDue(after, until, limit) : []),
    })),
    hints: () => ({ due: () => {}, rescan: () => {} }),
  },
  'scanning for overdue deliveries finds nothing': {
    caughtBy: ['punctuality'],
    store: overriding<AnyStore>((store) => ({
      listDue: async (after, until, limit) => (after === null ? [] : store.listDue(after, until, limit)),
    })),
  },
  'the clock of the engine is two seconds ahead': {
    caughtBy: ['sends', 'settling'],
    clock: (clock) => ({ now: () => instant(clock.now() + 2_000) }),
  },
  'the clock of the engine is two seconds behind': {
    caughtBy: ['settling', 'punctuality'],
    clock: (clock) => ({ now: () => instant(clock.now() - 2_000) }),
  },
  'one attempt more than allowed': {
    caughtBy: ['lifecycle', 'attempts', 'settling'],
    store: alteringLoads(({ delivery }) => ({
      delivery: {
        ...delivery,
        retryPolicy: { ...delivery.retryPolicy, maxAttempts: delivery.retryPolicy.maxAttempts + 1 },
      },
    })),
  },
  'a delivery without attempts left gets one more': {
    caughtBy: ['settling'],
    store: overriding<AnyStore>((store) => ({
      settle: (writes) =>
        store.settle(
          writes.map((write) =>
            write.delivery.status === 'dead_letter' && write.attempt.outcome === 'retryable'
              ? { ...write, completed: null, delivery: waitingAgain(write.delivery) }
              : write,
          ),
        ),
    })),
  },
  'a dead letter is scheduled again': {
    caughtBy: ['lifecycle'],
    store: overriding<AnyStore>((store) => ({
      async settle(writes) {
        const answers = await store.settle(writes);
        for (const { delivery } of writes) {
          if (delivery.status !== 'dead_letter') continue;
          void store.defer([{ ...waitingAgain(delivery), revision: delivery.revision + 1 }]);
        }
        return answers;
      },
    })),
  },
  'the backoff is a millisecond short': {
    caughtBy: ['settling'],
    store: overriding<AnyStore>((store) => ({
      settle: (writes) =>
        store.settle(
          writes.map((write) => ({
            ...write,
            delivery: {
              ...write.delivery,
              dueAt: write.delivery.dueAt && instant(write.delivery.dueAt - 1),
            },
          })),
        ),
    })),
  },
  'a deferral is not stored': {
    caughtBy: ['punctuality'],
    store: overriding<AnyStore>(() => ({ defer: async (deliveries) => deliveries.map(() => DONE) })),
  },
  'gates are never saved': {
    caughtBy: ['breaker'],
    store: overriding<AnyStore>(() => ({ saveGates: async () => {} })),
  },
  'gates are never loaded': {
    caughtBy: ['breaker', 'budget', 'rate'],
    store: alteringLoads(() => ({ gate: null })),
  },
  'the breaker takes one failure more to open': {
    caughtBy: ['breaker'],
    firstSeed: 3,
    store: alteringLoads(({ endpointProfile: profile }) => ({
      endpointProfile: profile?.breakerPolicy
        ? {
            ...profile,
            breakerPolicy: { ...profile.breakerPolicy, threshold: profile.breakerPolicy.threshold + 1 },
          }
        : profile,
    })),
  },
  'the window of the breaker is forgotten: the default is used': {
    caughtBy: ['breaker'],
    firstSeed: 3,
    store: alteringLoads(({ endpointProfile: profile }) => ({
      endpointProfile: profile && { ...profile, breakerPolicy: null },
    })),
  },
  'the retry budget of the profile is forgotten': {
    caughtBy: ['budget'],
    firstSeed: 9,
    store: alteringLoads(({ endpointProfile: profile }) => ({
      endpointProfile: profile && { ...profile, retryBudget: null },
    })),
  },
  'the rate limit is forgotten': {
    caughtBy: ['rate'],
    store: alteringLoads(({ schedule }) => ({ schedule: schedule && { ...schedule, rateLimit: null } })),
  },
  'the rate limit is read as half its value': {
    caughtBy: ['reservations'],
    store: alteringLoads(({ schedule }) => ({
      schedule: schedule && {
        ...schedule,
        rateLimit: schedule.rateLimit && { perSecond: schedule.rateLimit.perSecond / 2 },
      },
    })),
  },
  'an interrupted attempt cannot be settled': {
    caughtBy: ['stops', 'punctuality'],
    store: overriding<AnyStore>((store) => ({
      settle: async (writes) =>
        writes.some(({ attempt }) => attempt.error === 'interrupted')
          ? Promise.reject(new StoreUnavailable('A bug.'))
          : store.settle(writes),
    })),
  },
  'the timeout of the profile is forgotten': {
    // A stop aborts an attempt that should have timed out before. The breaker then misses a failure.
    caughtBy: ['settling', 'breaker'],
    store: overriding<AnyStore>((store) => ({
      async loadPayloads(deliveries) {
        const messages = await store.loadPayloads(deliveries);
        return messages.map((message) => ({
          ...message,
          profile: message.profile && { ...message.profile, timeout: null },
        }));
      },
    })),
  },
  'claiming an occurrence does not create the next one': {
    caughtBy: ['schedules'],
    firstSeed: 2,
    store: overriding<AnyStore>((store) => ({
      claim: (writes) => store.claim(writes.map((write) => ({ ...write, advanced: null }))),
    })),
  },
  'ending an occurrence unsent does not create the next one': {
    caughtBy: ['schedules'],
    firstSeed: 2,
    store: overriding<AnyStore>((store) => ({
      endUnsent: (writes) => store.endUnsent(writes.map((write) => ({ ...write, advanced: null }))),
    })),
  },
  'a one-shot is not completed by the end of its delivery': {
    caughtBy: ['schedules'],
    store: overriding<AnyStore>((store) => ({
      settle: (writes) => store.settle(writes.map((write) => ({ ...write, completed: null }))),
    })),
  },
  'recovery finds nothing': {
    caughtBy: ['punctuality'],
    store: overriding<AnyStore>(() => ({ listLostClaims: async () => [] })),
  },
  'settling is acknowledged but not stored': {
    caughtBy: ['punctuality', 'stops'],
    store: overriding<AnyStore>((store) => {
      let count = 0;
      return {
        settle: async (writes) => (count++ % 5 === 4 ? writes.map(() => DONE) : store.settle(writes)),
      };
    }),
  },
  'every request is sent twice': {
    caughtBy: ['sends'],
    egress: (egress) => ({
      ...egress,
      send(...given) {
        egress.send(...given);
        return egress.send(...given);
      },
    }),
  },
  'the idempotency key differs from attempt to attempt': {
    caughtBy: ['sends'],
    egress: (egress) => ({
      ...egress,
      send: (request, ...rest) => {
        const attempt = request.headers.find(([name]) => name === 'Sched-Attempt')?.[1];
        const headers = request.headers.map(([name, value]) =>
          name === 'Idempotency-Key' && attempt !== '1'
            ? ([name, `${value}-${attempt}`] as const)
            : ([name, value] as const),
        );
        return egress.send({ ...request, headers }, ...rest);
      },
    }),
  },
  'requests go out while the claim is still being written': {
    caughtBy: ['sends', 'punctuality', 'attempts', 'settling'],
    store: overriding<AnyStore>((store) => ({
      async claim(writes) {
        void store.claim(writes);
        return writes.map(() => DONE);
      },
    })),
  },
  'all customers share one count of permits': {
    caughtBy: ['fairness', 'punctuality'],
    firstSeed: 49,
    patch: stopTakingWhile((inFlight) => inFlight >= 24),
  },
  'all customers share one count of body bytes': {
    caughtBy: ['fairness', 'punctuality'],
    firstSeed: 22,
    egress: countingBodies,
    patch: stopTakingWhile(() => bodyBytesInFlight >= 1_048_576),
  },
  'a body is cut off after 64 KiB': {
    // The signature of such a body is wrong too.
    caughtBy: ['payloads', 'sends'],
    firstSeed: 10,
    egress: (egress) => ({
      ...egress,
      send: (request, ...rest) =>
        egress.send({ ...request, body: request.body?.subarray(0, 65_536) ?? null }, ...rest),
    }),
  },
  'a cancel is acknowledged but not stored': {
    caughtBy: ['api'],
    store: overriding<AnyStore>((store) => ({
      replaceSchedule: async (replacement) =>
        replacement.schedule.state === 'canceled' ? DONE : store.replaceSchedule(replacement),
    })),
  },
  'a pause or cancel misses the other deliveries of the schedule': {
    caughtBy: ['schedules', 'attempts'],
    firstSeed: 15,
    store: overriding<AnyStore>((store) => ({
      replaceSchedule: (replacement) => store.replaceSchedule({ ...replacement, sweep: null }),
    })),
  },
  'an action is acknowledged before it has reached all deliveries': {
    caughtBy: ['sweeps'],
    firstSeed: 15,
    store: overriding<AnyStore>(() => ({ findSweep: async () => null })),
  },
  'a repeated API request takes effect twice': {
    caughtBy: ['api'],
    firstSeed: 16,
    store: overriding<AnyStore>((store) => ({
      addSchedule: (addition) => store.addSchedule({ ...addition, receipt: null }),
    })),
  },
  'retention removes deliveries that are too young': {
    caughtBy: ['lifecycle'],
    firstSeed: 6,
    store: overriding<AnyStore>((store) => ({
      prune: (what, before, limit) => store.prune(what, instant(before + 300_000), limit),
    })),
  },
  ...NAMED_BUGS,
  ...NOTIFICATION_BUGS,
};

function waitingAgain(delivery: Delivery): Delivery {
  return {
    ...delivery,
    status: 'retry_scheduled',
    dueAt: instant((delivery.finalizedAt ?? 0) + 1_000),
    finalizedAt: null,
  };
}
