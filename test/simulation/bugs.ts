/**
 * Deliberate bugs, each put between the product and one of its ports: the proof that the checkers can fail. Each
 * names the promise it breaks, which is the checker that has to catch it.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { FairQueue } from '#src/engine/queue/fair-queue.ts';
import type { Egress } from '#src/ports/egress.ts';
import type { Hints } from '#src/ports/hints.ts';
import { type LoadedDelivery, StoreUnavailable } from '#src/ports/store.ts';
import type { Clock } from '#src/ports/system.ts';
import type { Step } from '#src/store/sql/steps.ts';
import type { Observer } from './observer.ts';
import { type Patch, patched } from './patched.ts';
import type { AnyStore } from './stores.ts';

export interface Bug {
  /** The checkers that may be the first to notice. */
  readonly caughtBy: readonly string[];
  readonly store?: (store: AnyStore) => AnyStore;
  /** What the writing thread is given of a verb. */
  readonly steps?: (steps: readonly Step[], observer: Observer) => readonly Step[];
  readonly clock?: (clock: Clock) => Clock;
  readonly egress?: (egress: Egress) => Egress;
  readonly hints?: (hints: Hints) => Hints;
  readonly patch?: Patch;
}

/** Nothing more is taken out of the queues, whoever's they are, while this holds. */
function stopTakingWhile(isOver: (inFlight: number) => boolean): Patch {
  return patched(FairQueue.prototype, 'take', ({ value: take }) => ({
    value(this: FairQueue, ...given: Parameters<FairQueue['take']>) {
      return isOver(this.inFlight) ? [] : Reflect.apply(take, this, given);
    },
  }));
}

/** The bytes of all requests in flight in this thread. */
let bodyBytesInFlight = 0;

/** Counts the bytes of the bodies in flight, of all customers together. */
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

/** The same store, but for these verbs. */
function overriding(verbs: (store: AnyStore) => Partial<AnyStore>): (store: AnyStore) => AnyStore {
  return (store) => {
    const other = verbs(store);
    return new Proxy(store, {
      get(target, name) {
        const own: unknown = Reflect.get(other, name);
        if (own !== undefined) return own;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  };
}

/** The loaded delivery as the engine is told it is. */
function alteringLoads(
  change: (work: LoadedDelivery) => Partial<LoadedDelivery>,
): (store: AnyStore) => AnyStore {
  return overriding((store) => ({
    async loadDeliveries(deliveries) {
      const works = await store.loadDeliveries(deliveries);
      return works.map((work) => work && { ...work, ...change(work) });
    },
  }));
}

const DONE = 'done' as const;
const REVISION_COLUMN_FROM_END = 4;

/** Steps whose guard always holds: the row is replaced whatever it has become. */
function unguarded(statements: ReadonlySet<Step[0]>, steps: readonly Step[], observer: Observer) {
  return steps.map((step): Step => {
    if (!statements.has(step[0])) return step;
    const [name, otherwise, ...parameters] = step;
    const id = parameters.at(-2);
    const known =
      observer.deliveries.get(id as DeliveryId) ?? observer.schedules.get(id as ScheduleId) ?? null;
    if (known === null) return step;
    // The new revision is the last column that is set, before the three parts of the guard.
    parameters[parameters.length - REVISION_COLUMN_FROM_END] = known.revision + 1;
    parameters[parameters.length - 1] = known.revision;
    return [name, otherwise, ...parameters];
  });
}

const REPLACING_DELIVERIES: ReadonlySet<Step[0]> = new Set([
  'replaceDelivery',
  'claimDelivery',
  'settleDelivery',
  'deferDelivery',
]);

function without(...names: readonly Step[0][]): (steps: readonly Step[]) => readonly Step[] {
  return (steps) => steps.filter(([name]) => !names.includes(name));
}

export const BUGS: Readonly<Record<string, Bug>> = {
  'no fencing: a delivery is replaced whatever it has become': {
    caughtBy: ['lifecycle', 'attempts', 'schedules', 'settling', 'sends', 'api'],
    steps: (steps, observer) => unguarded(REPLACING_DELIVERIES, steps, observer),
  },
  'a claim without its condition': {
    caughtBy: ['lifecycle', 'attempts', 'schedules', 'settling', 'sends'],
    steps: (steps, observer) => unguarded(new Set(['claimDelivery']), steps, observer),
  },
  'a claim that forgets the row of its attempt': {
    caughtBy: ['attempts'],
    steps: without('insertAttempt'),
  },
  'settling does not look at the state of the schedule': {
    caughtBy: ['settling', 'schedules'],
    steps: without('scheduleInState'),
  },
  'a settled attempt leaves its row open': {
    caughtBy: ['attempts'],
    steps: without('closeAttempt'),
  },
  'wake-ups are lost: nothing is found by looking, no hint arrives': {
    caughtBy: ['punctuality'],
    store: overriding(() => ({ listDue: async () => [] })),
    hints: () => ({ due: () => {}, rescan: () => {} }),
  },
  'looking ahead sees nothing': {
    caughtBy: ['punctuality'],
    store: overriding((store) => ({
      listDue: async (after, until, limit) => (after === null ? store.listDue(after, until, limit) : []),
    })),
    hints: () => ({ due: () => {}, rescan: () => {} }),
  },
  'looking back sees nothing': {
    caughtBy: ['punctuality'],
    store: overriding((store) => ({
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
  'what ran out of attempts is tried once more': {
    caughtBy: ['settling'],
    store: overriding((store) => ({
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
  'a dead letter rises again': {
    caughtBy: ['lifecycle'],
    store: overriding((store) => ({
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
    store: overriding((store) => ({
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
  'what is deferred is not stored': {
    caughtBy: ['punctuality'],
    store: overriding(() => ({ defer: async (deliveries) => deliveries.map(() => DONE) })),
  },
  'gates are never saved': {
    caughtBy: ['breaker'],
    store: overriding(() => ({ saveGates: async () => {} })),
  },
  'gates are never loaded': {
    caughtBy: ['breaker', 'budget', 'rate'],
    store: alteringLoads(() => ({ gate: null })),
  },
  'the breaker takes one failure more to open': {
    caughtBy: ['breaker'],
    store: alteringLoads(({ profile }) => ({
      profile: profile?.breakerPolicy
        ? {
            ...profile,
            breakerPolicy: { ...profile.breakerPolicy, threshold: profile.breakerPolicy.threshold + 1 },
          }
        : profile,
    })),
  },
  'the window of the breaker is forgotten: the default is used': {
    caughtBy: ['breaker'],
    store: alteringLoads(({ profile }) => ({ profile: profile && { ...profile, breakerPolicy: null } })),
  },
  'the retry budget of the profile is forgotten': {
    caughtBy: ['budget'],
    store: alteringLoads(({ profile }) => ({ profile: profile && { ...profile, retryBudget: null } })),
  },
  'the rate limit is forgotten': {
    caughtBy: ['rate'],
    store: alteringLoads(({ schedule }) => ({ schedule: { ...schedule, rateLimit: null } })),
  },
  'the rate limit is taken for half of what it is': {
    caughtBy: ['reservations'],
    store: alteringLoads(({ schedule }) => ({
      schedule: {
        ...schedule,
        rateLimit: schedule.rateLimit && { perSecond: schedule.rateLimit.perSecond / 2 },
      },
    })),
  },
  'an interrupted attempt cannot be settled': {
    caughtBy: ['stops', 'punctuality'],
    store: overriding((store) => ({
      settle: async (writes) =>
        writes.some(({ attempt }) => attempt.error === 'interrupted')
          ? Promise.reject(new StoreUnavailable('A bug.'))
          : store.settle(writes),
    })),
  },
  'the timeout of the profile is forgotten': {
    // An attempt that a stop breaks off should have timed out before: a failure that the breaker never hears of.
    caughtBy: ['settling', 'breaker'],
    store: overriding((store) => ({
      async loadPayloads(deliveries) {
        const messages = await store.loadPayloads(deliveries);
        return messages.map((message) => ({
          ...message,
          profile: message.profile && { ...message.profile, timeout: null },
        }));
      },
    })),
  },
  'claiming an occurrence does not make the next one': {
    caughtBy: ['schedules'],
    store: overriding((store) => ({
      claim: (writes) => store.claim(writes.map((write) => ({ ...write, advanced: null }))),
    })),
  },
  'ending an occurrence unsent does not make the next one': {
    caughtBy: ['schedules'],
    store: overriding((store) => ({
      endUnsent: (writes) => store.endUnsent(writes.map((write) => ({ ...write, advanced: null }))),
    })),
  },
  'a one-shot is not completed by the end of its delivery': {
    caughtBy: ['schedules'],
    store: overriding((store) => ({
      settle: (writes) => store.settle(writes.map((write) => ({ ...write, completed: null }))),
    })),
  },
  'recovery finds nothing': {
    caughtBy: ['punctuality'],
    store: overriding(() => ({ listLostClaims: async () => [] })),
  },
  'settling is acknowledged, and not stored': {
    caughtBy: ['punctuality', 'stops'],
    store: overriding((store) => {
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
  'the key differs from attempt to attempt': {
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
    store: overriding((store) => ({
      async claim(writes) {
        void store.claim(writes);
        return writes.map(() => DONE);
      },
    })),
  },
  'permits are one number for all customers': {
    caughtBy: ['fairness', 'punctuality'],
    patch: stopTakingWhile((inFlight) => inFlight >= 24),
  },
  'the bytes of bodies are one number for all customers': {
    caughtBy: ['fairness', 'punctuality'],
    egress: countingBodies,
    patch: stopTakingWhile(() => bodyBytesInFlight >= 1_048_576),
  },
  'a body is cut off after 64 KiB': {
    caughtBy: ['sends'],
    egress: (egress) => ({
      ...egress,
      send: (request, ...rest) =>
        egress.send({ ...request, body: request.body?.subarray(0, 65_536) ?? null }, ...rest),
    }),
  },
  'a cancel is acknowledged, and not stored': {
    caughtBy: ['api'],
    store: overriding((store) => ({
      replaceSchedule: async (replacement) =>
        replacement.schedule.state === 'canceled' ? DONE : store.replaceSchedule(replacement),
    })),
  },
  'a pause or cancel forgets the other deliveries of the schedule': {
    caughtBy: ['schedules', 'attempts'],
    store: overriding((store) => ({
      replaceSchedule: (replacement) => store.replaceSchedule({ ...replacement, sweep: null }),
    })),
  },
  'an order is acknowledged before it has reached all deliveries': {
    caughtBy: ['sweeps'],
    store: overriding(() => ({ findSweep: async () => null })),
  },
  'a request made again has its effect again': {
    caughtBy: ['api'],
    store: overriding((store) => ({
      addSchedule: (addition) => store.addSchedule({ ...addition, receipt: null }),
    })),
  },
  'retention removes what is younger than it should be': {
    caughtBy: ['lifecycle'],
    store: overriding((store) => ({
      prune: (what, before, limit) => store.prune(what, instant(before + 300_000), limit),
    })),
  },
};

function waitingAgain(delivery: Delivery): Delivery {
  return {
    ...delivery,
    status: 'retry_scheduled',
    dueAt: instant((delivery.finalizedAt ?? 0) + 1_000),
    finalizedAt: null,
  };
}
