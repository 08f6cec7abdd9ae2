/** Opens the store of the settings: SQLite in the data directory, or a PostgreSQL that nodes share. */
import { describeAddress } from '#src/store/postgres/address.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { systemClock } from '#src/system/clock.ts';
import { systemTimers } from '#src/system/timers.ts';
import type { ControlSettings } from './config.ts';
import { messageOf, StartFailure } from './failures.ts';
import { type OpenDataDirOptions, openDataDir } from './open-data-dir.ts';

export interface OpenStoreOptions extends Omit<OpenDataDirOptions, 'isMove'> {
  /** The name of this process among all processes that use the store. */
  readonly node: string;
}

export async function openStore(settings: ControlSettings, options: OpenStoreOptions): Promise<SqlStore> {
  const { databaseUrl: address, dataDir } = settings;
  if (address === null) return openDataDir(dataDir, systemClock, options);
  // Loaded only when needed, so that a service on SQLite starts without the PostgreSQL driver.
  const { openPostgres } = await import('#src/store/postgres/open-postgres.ts');
  try {
    return await openPostgres({
      address,
      clock: systemClock,
      timers: systemTimers,
      node: options.node,
      migrate: options.create,
      isSmall: !options.exclusive,
    });
  } catch (error) {
    throw new StartFailure(`The store ${describeAddress(address)} cannot be opened. ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** The name of the store in messages. */
export function nameOfStore({ databaseUrl, dataDir }: ControlSettings): string {
  return databaseUrl === null ? dataDir : describeAddress(databaseUrl);
}
