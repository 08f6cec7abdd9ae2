/** The stores that simulated services use: of one service, and of the nodes of a cluster. */
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import type { Store } from '#src/ports/store.ts';

export type AnyStore = Store & ControlStore;
export type SharedStore = AnyStore & ClusterStore;
