/** The same store; what it has stored about deliveries is told to whoever watches, after it is so. */

import type { AnyStore } from '#src/app/open-store.ts';
import type { Happening } from '#src/inbox/happening.ts';
import type { ClaimWrite, Store } from '#src/ports/store.ts';

type Watched = Pick<Store, 'claim' | 'settle' | 'defer' | 'endUnsent' | 'replaceSchedule'>;

export function watchedStore(store: AnyStore, tell: (happening: Happening) => void): AnyStore {
  const watched = watchedVerbs(store, tell);
  return new Proxy(store, {
    get(target, name) {
      if (Object.hasOwn(watched, name)) return Reflect.get(watched, name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

type Answers = Promise<readonly ('done' | 'stale')[]>;

function watchedVerbs(store: Store, tell: (happening: Happening) => void): Watched {
  /** Watches from aside: the caller has the very promise of the store, failures included. */
  const told = <W>(writes: readonly W[], answered: Answers, happening: (write: W) => Happening): Answers => {
    void hearOf(writes, answered, (write) => tell(happening(write)));
    return answered;
  };
  return {
    claim: (writes, fence) =>
      told(writes, store.claim(writes, fence), (write) => ({ kind: 'claimed', ...tryOf(write) })),
    settle: (writes) => told(writes, store.settle(writes), (write) => ({ kind: 'settled', ...tryOf(write) })),
    defer: (deliveries, fence) =>
      told(deliveries, store.defer(deliveries, fence), (delivery) => ({ kind: 'deferred', delivery })),
    endUnsent: (writes, fence) =>
      told(writes, store.endUnsent(writes, fence), ({ delivery }) => ({ kind: 'ended', delivery })),
    replaceSchedule: async (replacement) => {
      const { partition, id: scheduleId } = replacement.schedule;
      const answer = await store.replaceSchedule(replacement);
      if (answer === 'done') tell({ kind: 'edited', partition, scheduleId });
      return answer;
    },
  };
}

function tryOf({ delivery, attempt }: Pick<ClaimWrite, 'delivery' | 'attempt'>) {
  return { delivery, attempt };
}

async function hearOf<W>(writes: readonly W[], answered: Answers, tell: (write: W) => void): Promise<void> {
  const answers = await answered.catch(() => []);
  for (const [index, write] of writes.entries()) if (answers[index] === 'done') tell(write);
}
