/** What the engine works with. Everything of the outside comes in here. */
import type { IdMint } from '#src/domain/id.ts';
import type { Clock } from '#src/ports/clock.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import type { Egress } from '#src/ports/egress.ts';
import type { Store } from '#src/ports/store.ts';
import type { EngineMetrics, Log } from '#src/ports/telemetry.ts';
import type { Timers } from '#src/ports/timers.ts';
import type { Vault } from '#src/ports/vault.ts';

export interface EngineWorld {
  readonly store: Store & Pick<ControlStore, 'listSecrets'>;
  readonly egress: Egress;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: IdMint;
  readonly log: Log;
  readonly metrics: EngineMetrics;
  /** This life of this process; a restart is another node. */
  readonly node: string;
}

/** A pause that can be waited for. */
export function pause(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.after(ms, resolve));
}
