import type { IdMint } from '#src/domain/id.ts';
import type { Clock } from '#src/ports/clock.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import type { Random } from '#src/ports/random.ts';
import type { Vault } from '#src/ports/vault.ts';

/** What the control plane needs from the world. */
export interface ControlWorld {
  readonly store: ControlStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdMint;
}

/** Where signing secrets are read or made, the vault too. */
export interface SealingWorld extends ControlWorld {
  readonly vault: Vault;
}
