/**
 * Opens the vault with the master key of the settings, or of the data directory. The key is tested on the
 * sealed data in the store before anything new is sealed. Otherwise a wrong key would not be noticed until a
 * delivery cannot be signed. For the same reason a key is generated only if nothing is sealed yet: beside
 * sealed data, a missing key file means that the key is lost, or is in the settings of the service.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlDependencies } from '#src/control/dependencies.ts';
import { openSecret } from '#src/control/secrets.ts';
import type { Random } from '#src/ports/system.ts';
import { AesVault, UnsealError } from '#src/vault/aes-vault.ts';
import { MASTER_KEY_FILE, masterKeyIn } from '#src/vault/master-key.ts';
import type { ControlSettings } from './config.ts';
import { messageOf, StartFailure } from './failures.ts';

export async function openVault(
  settings: ControlSettings,
  dependencies: ControlDependencies,
  canGenerate: boolean,
): Promise<AesVault> {
  const sealed = await dependencies.store.listSecretOfEachMasterKey(dependencies.clock.now());
  const key =
    settings.masterKey ??
    keyInDirectory(settings.dataDir, dependencies.random, canGenerate && sealed.length === 0);
  const vault = new AesVault(dependencies.random, key, settings.masterKeysPrevious ?? []);
  try {
    for (const secret of sealed) openSecret(vault, secret);
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    const source = settings.masterKey === null ? join(settings.dataDir, MASTER_KEY_FILE) : 'SCHED_MASTER_KEY';
    throw new StartFailure(
      `${source} does not match the key this data was sealed with. If the key was changed, add the earlier key to SCHED_MASTER_KEY_PREVIOUS.`,
      { cause: error },
    );
  }
  return vault;
}

function keyInDirectory(directory: string, random: Random, canGenerate: boolean): Uint8Array {
  const path = join(directory, MASTER_KEY_FILE);
  if (!canGenerate && !existsSync(path)) {
    throw new StartFailure(
      `The master key ${path} is missing. Restore the file, or set SCHED_MASTER_KEY to the key this data was sealed with.`,
    );
  }
  try {
    return masterKeyIn(directory, random);
  } catch (error) {
    throw new StartFailure(`The master key cannot be used. ${messageOf(error)}`, { cause: error });
  }
}
