/** A new database on Citus with all tables, distributed over the workers. */
import { distribute } from '#src/store/postgres/citus.ts';
import { connect } from '#src/store/postgres/connect.ts';
import { migrate } from '#src/store/postgres/schema-version.ts';
import { systemTimers } from '#src/system/timers.ts';
import { START } from '#test/store-contract/builders.ts';
import { createCitusDatabase } from './citus.ts';
import { addressOf } from './contract-databases.ts';
import type { TestDatabase } from './databases.ts';

export async function createDistributedDatabase(): Promise<TestDatabase> {
  const database = await createCitusDatabase();
  const client = await connect(addressOf(database.url), { timers: systemTimers });
  try {
    await migrate(client, START, () => Promise.resolve());
    await distribute(client);
  } finally {
    await client.end();
  }
  return database;
}
