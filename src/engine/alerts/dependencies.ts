import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { AlertStore } from '#src/ports/alert-store.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';

export interface AlertsDependencies
  extends Omit<
    EngineDependencies,
    'store' | 'insight' | 'cluster' | 'metrics' | 'node' | 'composeNotification'
  > {
  readonly store: EngineDependencies['store'] &
    Pick<ControlStore, 'listProjects'> & { readonly alerts: AlertStore };
  readonly insight: Pick<InsightStore, 'readStats' | 'listOpenBreakers' | 'findGate'>;
  readonly ownership: Pick<SlotOwnership, 'slots' | 'fence'>;
}
