/** Creates or migrates the database, and distributes it over several servers if asked to. */
import { StoreUnavailable } from '#src/ports/store.ts';
import { type DatabaseAddress, describeAddress } from '#src/store/postgres/address.ts';
import { distribute } from '#src/store/postgres/citus.ts';
import { connect } from '#src/store/postgres/connect.ts';
import { SCHEMA_VERSION as POSTGRES_VERSION } from '#src/store/postgres/schema-version.ts';
import { SCHEMA_VERSION as SQLITE_VERSION } from '#src/store/sqlite/connection.ts';
import { systemTimers } from '#src/system/timers.ts';
import type { ControlSettings } from './config.ts';
import { withControl } from './control-session.ts';
import { messageOf, SettingsError, StartFailure } from './failures.ts';

/** Returns the version of the schema. */
export async function migrateStore(settings: ControlSettings, shouldDistribute: boolean): Promise<number> {
  const { databaseUrl: address } = settings;
  if (shouldDistribute && address === null) {
    throw new SettingsError(
      '--distribute needs SCHED_DATABASE_URL, because a SQLite file cannot be distributed.',
    );
  }
  await withControl(settings, async () => {}, true);
  if (shouldDistribute && address !== null) await distributeAt(address);
  return address === null ? SQLITE_VERSION : POSTGRES_VERSION;
}

async function distributeAt(address: DatabaseAddress): Promise<void> {
  const client = await connect(address, { timers: systemTimers });
  try {
    await distribute(client);
  } catch (error) {
    const what = error instanceof StoreUnavailable ? '' : 'Citus: ';
    throw new StartFailure(
      `${describeAddress(address)} could not be distributed. ${what}${messageOf(error)}`,
      { cause: error },
    );
  } finally {
    await client.end();
  }
}
