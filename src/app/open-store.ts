/** The store that the settings name: a file in the data directory, or a PostgreSQL that nodes share. */
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
import { openSqlite } from './open-sqlite.ts';

export type AnyStore = Store &
  ControlStore &
  ClusterStore & {
    readonly people: PeopleStore;
    readonly insight: InsightStore;
    readonly jobs: ReplayJobStore;
    readonly sealed: SealedStore;
  };

export interface OpenStoreOptions {
  /** The service holds a data directory alone; the command line works beside it. */
  readonly exclusive: boolean;
  /** Whether the database is made, or brought up to date. */
  readonly create: boolean;
  /** What this process is called among all that use the store. */
  readonly node: string;
  /** Whether it is opened by `sched dev`. */
  readonly isPlayground?: boolean;
}

export async function openStore(settings: ControlSettings, options: OpenStoreOptions): Promise<AnyStore> {
  const { databaseUrl: address, dataDir } = settings;
  if (address === null) return openSqlite(dataDir, systemClock, options);
  // Loaded only here: whoever is content with a file need not wait for a driver.
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

/** How messages name the store. */
export function nameOfStore({ databaseUrl, dataDir }: ControlSettings): string {
  return databaseUrl === null ? dataDir : describeAddress(databaseUrl);
}
