/** The whole contract, and that rows really lie on the workers. Runs where SCHED_TEST_CITUS_URL says so. */
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { START } from '#src/store/contract/builders.ts';
import { storeContract } from '#src/store/contract/store-contract.ts';
import { systemTimers } from '#src/system/timers.ts';
import { CITUS_URL, createCitusDatabase } from '#test/postgres/citus.ts';
import { addressOf, openedIn } from '#test/postgres/contract-databases.ts';
import { connect } from './connect.ts';
import { distribute } from './distribute.ts';
import { migrate } from './schema-version.ts';
import { decodeText } from './text.ts';

if (CITUS_URL === '') {
  test.skip('Citus: skipped, as SCHED_TEST_CITUS_URL names none');
} else {
  storeContract('the PostgreSQL store on Citus', async () => {
    const database = await createCitusDatabase();
    await distributed(database.url);
    return openedIn(database);
  });

  test('the tables of customers lie on the workers, the others are everywhere or here', async () => {
    await using database = await createCitusDatabase();
    await distributed(database.url);
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query(
      'SELECT table_name::text AS name, citus_table_type AS type FROM citus_tables',
    );
    await client.end();
    const types = Object.fromEntries(rows.map(({ name, type }) => [name, type]));
    expect(types).toMatchObject({
      deliveries: 'distributed',
      attempts: 'distributed',
      projects: 'reference',
    });
    expect(types).not.toHaveProperty('slots');
  });
}

async function distributed(url: string): Promise<void> {
  const client = await connect(addressOf(url), { timers: systemTimers, decodeText });
  try {
    await migrate(client, START, () => Promise.resolve());
    await distribute(client);
  } finally {
    await client.end();
  }
}
