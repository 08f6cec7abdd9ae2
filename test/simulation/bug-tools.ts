/** A deliberate bug, and tools to make one. */
import type { Egress } from '#src/ports/egress.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { LoadedDelivery } from '#src/ports/store.ts';
import type { Clock } from '#src/ports/system.ts';
import type { Step } from '#src/store/sql/steps.ts';
import type { Observer } from './observer.ts';
import type { AnyStore } from './watched-store.ts';

/** Changes the product itself for a deliberate bug. The returned function undoes the change. */
export type Patch = () => () => void;

export interface Bug {
  /** The checkers that may be the first to notice the bug. */
  readonly caughtBy: readonly string[];
  /** The search begins here, because no earlier seed shows the bug. The default is the first seed. */
  readonly firstSeed?: number;
  readonly store?: (store: AnyStore) => AnyStore;
  /** Changes the steps of a verb before the writer thread runs them. */
  readonly steps?: (steps: readonly Step[], observer: Observer) => readonly Step[];
  readonly clock?: (clock: Clock) => Clock;
  readonly egress?: (egress: Egress) => Egress;
  readonly hints?: (hints: Hints) => Hints;
  readonly patch?: Patch;
}

/** Replaces one member of a class. `change` receives the original member. */
export function patched(
  prototype: object,
  name: string,
  change: (own: PropertyDescriptor) => PropertyDescriptor,
): Patch {
  return () => {
    const own = Object.getOwnPropertyDescriptor(prototype, name);
    if (own === undefined) throw new Error(`There is no ${name} to patch.`);
    Object.defineProperty(prototype, name, { ...own, ...change(own) });
    return () => Object.defineProperty(prototype, name, own);
  };
}

/** Replaces some verbs of the store. */
export function overriding<S extends object>(verbs: (store: S) => Partial<S>): (store: S) => S {
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

/** Recovery ends the attempts of dead processes without their notifications. */
export function untoldRecovery(store: AnyStore): Pick<AnyStore, 'listLostClaims' | 'settle'> {
  const lost = new Set<string>();
  return {
    async listLostClaims(livingNodes, limit) {
      const claims = await store.listLostClaims(livingNodes, limit);
      for (const { delivery } of claims) lost.add(delivery.claim.attemptId);
      return claims;
    },
    settle: (writes) =>
      store.settle(
        writes.map((write) => (lost.has(write.attempt.id) ? { ...write, notification: null } : write)),
      ),
  };
}

/** Changes deliveries as the engine loads them. */
export function alteringLoads(
  change: (loaded: LoadedDelivery) => Partial<LoadedDelivery>,
): (store: AnyStore) => AnyStore {
  return overriding<AnyStore>((store) => ({
    async loadDeliveries(deliveries) {
      const all = await store.loadDeliveries(deliveries);
      return all.map((loaded) => loaded && { ...loaded, ...change(loaded) });
    },
  }));
}

/** Removes the steps with these names. */
export function without(...names: readonly Step[0][]): (steps: readonly Step[]) => readonly Step[] {
  return (steps) => steps.filter(([name]) => !names.includes(name));
}
