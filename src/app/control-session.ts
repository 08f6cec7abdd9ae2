/** Opens the control plane for one command, beside a running service, and closes it afterwards. */
import { RollingUpgrade } from '#src/commands/rolling-upgrade.ts';
import type { ControlDependencies } from '#src/control/dependencies.ts';
import { IdMint } from '#src/domain/id.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { systemClock } from '#src/system/clock.ts';
import { systemRandom } from '#src/system/random.ts';
import type { AesVault } from '#src/vault/aes-vault.ts';
import type { ControlSettings } from './config.ts';
import { openStore } from './open-store.ts';
import { openVault } from './open-vault.ts';
import { nodeName, systemTimers } from './process.ts';

export interface ControlSession extends ControlDependencies {
  readonly store: SqlStore;
}

export interface SealingSession extends ControlSession {
  readonly vault: AesVault;
  readonly upgrade: RollingUpgrade;
}

export async function withControl<T>(
  settings: ControlSettings,
  run: (dependencies: ControlSession) => Promise<T>,
  create = false,
): Promise<T> {
  const random = systemRandom();
  const store = await openStore(settings, { exclusive: false, create, node: nodeName(random) });
  try {
    return await run({ store, clock: systemClock, random, ids: new IdMint((count) => random.bytes(count)) });
  } finally {
    await store.close();
  }
}

/** Opens the vault as well. `create`: a missing database and a missing master key are created. */
export function withSecrets<T>(
  settings: ControlSettings,
  run: (dependencies: SealingSession) => Promise<T>,
  create = false,
): Promise<T> {
  return withControl(
    settings,
    async (dependencies) =>
      run({
        ...dependencies,
        vault: await openVault(settings, dependencies, create),
        upgrade: new RollingUpgrade(dependencies.store, systemTimers),
      }),
    create,
  );
}
