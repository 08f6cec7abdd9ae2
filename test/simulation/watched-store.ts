/**
 * Wraps the store of the engine and the commands. The simulation sees every write before the store does, and
 * makes reads fail while the disk is unavailable. A process that has ended gets no answers.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import {
  type ClaimWrite,
  type EndWrite,
  type LoadedDelivery,
  type SettleWrite,
  type Store,
  StoreUnavailable,
} from '#src/ports/store.ts';
import type { ClaimAnswer } from './checkers/checker.ts';
import type { Scope } from './virtual-time.ts';

/** The store of a single service. */
export type AnyStore = Store & ControlStore;
/** The store that the nodes of a cluster share. */
export type SharedStore = AnyStore & ClusterStore;

export interface Watch {
  readsFail(): boolean;
  writesStarted(deliveries: readonly Delivery[]): void;
  writesEnded(deliveries: readonly Delivery[]): void;
  claimRequested(write: ClaimWrite): void;
  claimAnswered(write: ClaimWrite, answer: ClaimAnswer): void;
  settleRequested(write: SettleWrite): void;
  endRequested(write: EndWrite): void;
  deferRequested(delivery: Delivery): void;
  learned(deliveries: readonly Delivery[]): void;
  /** Returns what is to be called with the deliveries when they were read. */
  loadStarted(): (loaded: readonly LoadedDelivery[]) => void;
}

const IS_READ = /^(find|list)/;

export function watchedStore<S extends AnyStore>(store: S, scope: Scope, watch: Watch): S {
  const verbs: Partial<AnyStore> = {
    async loadDeliveries(deliveries) {
      const ended = watch.loadStarted();
      const all = await store.loadDeliveries(deliveries);
      ended(all.filter((loaded) => loaded !== null));
      return all;
    },
    async claim(writes, fence) {
      for (const write of writes) watch.claimRequested(write);
      try {
        const answers = await during(watch, writes.map(deliveryOf), store.claim(writes, fence));
        for (const [at, write] of writes.entries()) watch.claimAnswered(write, answers[at] ?? 'stale');
        watch.learned(done(writes, answers).flatMap(({ advanced }) => advanced?.next ?? []));
        return answers;
      } catch (error) {
        for (const write of writes) watch.claimAnswered(write, 'failed');
        throw error;
      }
    },
    async settle(writes) {
      for (const write of writes) watch.settleRequested(write);
      const answers = await during(watch, writes.map(deliveryOf), store.settle(writes));
      watch.learned(done(writes, answers).flatMap(withNotification));
      return answers;
    },
    async endUnsent(writes, fence) {
      for (const write of writes) watch.endRequested(write);
      const answers = await during(watch, writes.map(deliveryOf), store.endUnsent(writes, fence));
      watch.learned(done(writes, answers).flatMap(({ notification }) => notification ?? []));
      return answers;
    },
    async defer(deliveries, fence) {
      for (const delivery of deliveries) watch.deferRequested(delivery);
      const answers = await during(watch, deliveries, store.defer(deliveries, fence));
      watch.learned(done(deliveries, answers));
      return answers;
    },
  };
  const watched = new Map<string | symbol, unknown>();
  return new Proxy(store, {
    get(target, name) {
      const known = watched.get(name);
      if (known !== undefined) return known;
      const own: unknown = Reflect.get(verbs, name) ?? Reflect.get(target, name, target);
      if (typeof own !== 'function') return own;
      const isRead = IS_READ.test(String(name));
      const verb = (...given: readonly unknown[]): unknown => {
        if (scope.hasEnded) return new Promise(() => {});
        if (isRead && watch.readsFail())
          return Promise.reject(new StoreUnavailable('Simulated: no reading.'));
        return Reflect.apply(own, target, given);
      };
      watched.set(name, verb);
      return verb;
    },
  });
}

function done<W>(writes: readonly W[], answers: readonly ('done' | 'stale')[]): readonly W[] {
  return writes.filter((_, at) => answers[at] === 'done');
}

function withNotification({ delivery, notification }: EndWrite | SettleWrite): readonly Delivery[] {
  return notification == null ? [delivery] : [delivery, notification];
}

function deliveryOf({ delivery }: { readonly delivery: Delivery }): Delivery {
  return delivery;
}

async function during<T>(watch: Watch, deliveries: readonly Delivery[], answer: Promise<T>): Promise<T> {
  watch.writesStarted(deliveries);
  try {
    return await answer;
  } finally {
    watch.writesEnded(deliveries);
  }
}
