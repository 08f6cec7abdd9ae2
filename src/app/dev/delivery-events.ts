/** Wraps the store so that stored changes of deliveries are reported as events. */
import { attemptInFlight } from '#src/domain/delivery.ts';
import type { DeliveryEvent } from '#src/inbox/recent-deliveries.ts';
import type { Store } from '#src/ports/store.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';

type ObservedVerbs = Pick<Store, 'claim' | 'settle' | 'defer' | 'endUnsent' | 'replaceSchedule'>;

export function withDeliveryEvents(store: SqlStore, emit: (event: DeliveryEvent) => void): SqlStore {
  const observed = observedVerbs(store, emit);
  return new Proxy(store, {
    get(target, name) {
      if (Object.hasOwn(observed, name)) return Reflect.get(observed, name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

type Answers = Promise<readonly ('done' | 'stale')[]>;

function observedVerbs(store: Store, emit: (event: DeliveryEvent) => void): ObservedVerbs {
  /** The caller gets the original promise of the store, so failures are not changed. */
  const observe = <W>(
    writes: readonly W[],
    answers: Answers,
    eventOf: (write: W) => DeliveryEvent,
  ): Answers => {
    void emitDone(writes, answers, (write) => emit(eventOf(write)));
    return answers;
  };
  return {
    claim: (writes, fence) =>
      observe(writes, store.claim(writes, fence), ({ delivery }) => ({
        kind: 'claimed',
        delivery,
        attempt: attemptInFlight(delivery),
      })),
    settle: (writes) =>
      observe(writes, store.settle(writes), ({ delivery, attempt }) => ({
        kind: 'settled',
        delivery,
        attempt,
      })),
    defer: (deliveries, fence) =>
      observe(deliveries, store.defer(deliveries, fence), (delivery) => ({ kind: 'deferred', delivery })),
    endUnsent: (writes, fence) =>
      observe(writes, store.endUnsent(writes, fence), ({ delivery }) => ({ kind: 'ended', delivery })),
    replaceSchedule: async (replacement) => {
      const { partition, id: scheduleId } = replacement.schedule;
      const answer = await store.replaceSchedule(replacement);
      if (answer === 'done') emit({ kind: 'edited', partition, scheduleId });
      return answer;
    },
  };
}

async function emitDone<W>(writes: readonly W[], answers: Answers, emit: (write: W) => void): Promise<void> {
  const results = await answers.catch(() => []);
  for (const [index, write] of writes.entries()) if (results[index] === 'done') emit(write);
}
