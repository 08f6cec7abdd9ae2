import { expect } from 'vitest';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Fence } from '#src/domain/slot.ts';
import type { ClusterState } from '#src/ports/cluster-store.ts';
import { START } from './builders.ts';
import type { AnyStore } from './fixture.ts';

export const LEASE_MS = 1_000;
/** The version of the program that nodes run unless a test says otherwise. */
export const VERSION = '1.2.3';

/** Acts as nodes, with a clock that the test sets. */
export class Nodes {
  readonly store: AnyStore;
  now: Instant;

  constructor(store: AnyStore, now: Instant = START) {
    this.store = store;
    this.now = now;
  }

  renew(node: string, leaseMs = LEASE_MS, isStopping = false, version = VERSION): Promise<ClusterState> {
    const lease = { node, leaseUntil: instant(this.now + leaseMs), isStopping, version };
    return this.store.renewLease(lease);
  }

  async take(node: string, slots: readonly number[]): Promise<Fence> {
    const state = await this.renew(node);
    const seen = state.slots.filter(({ slot }) => slots.includes(slot));
    const fence = await this.store.takeSlots(node, seen);
    expect([...fence.epochs.keys()]).toEqual(slots);
    return fence;
  }
}
