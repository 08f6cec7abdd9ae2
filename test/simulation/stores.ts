/** The store of a single service, and the store that the nodes of a cluster share. */
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import type { Store } from '#src/ports/store.ts';

export type AnyStore = Store & ControlStore;
export type SharedStore = AnyStore & ClusterStore;
