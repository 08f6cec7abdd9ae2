/** Opens the store of the settings: SQLite in the data directory, or a PostgreSQL that nodes share. */
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { PeopleStore } from '#src/ports/people-store.ts';
import type { ReplayJobStore } from '#src/ports/replay-job-store.ts';
import type { Store } from '#src/ports/store.ts';
import type { SealedStore } from '#src/ports/vault.ts';
import { describeAddress } from '#src/store/postgres/address.ts';
import { systemClock } from '#src/system/clock.ts';
import { systemTimers } from '#src/system/timers.ts';
import type { ControlSettings } from './config.ts';
import { messageOf, StartFailure } from './failures.ts';
import { type OpenSqliteOptions, openSqlite } from './open-sqlite.ts';

export type AnyStore = Store &
  ControlStore &
  ClusterStore & {
    readonly people: PeopleStore;
    readonly insight: InsightStore;
    readonly jobs: ReplayJobStore;
    readonly sealed: SealedStore;
  };

export interface OpenStoreOptions extends Omit<OpenSqliteOptions, 'isMove'> {
  /** The name of this process among all processes that use the store. */
  readonly node: string;
}

export async function openStore(settings: ControlSettings, options: OpenStoreOptions): Promise<AnyStore> {
  const { databaseUrl: address, dataDir } = settings;
  if (address === null) return openSqlite(dataDir, systemClock, options);
  // Loaded only when needed, so that a service on SQLite starts without the PostgreSQL driver.
  const { PostgresStore } = await import('#src/store/postgres/postgres-store.ts');
  try {
    return await PostgresStore.open({
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
