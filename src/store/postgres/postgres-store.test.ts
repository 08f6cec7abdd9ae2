import { afterAll, beforeAll, test } from 'vitest';
import { systemTimers } from '#src/system/timers.ts';
import { addressOf, openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { olderPostgres, sharedPostgres } from '#test/postgres/shared.ts';
import { IS_POSTGRES } from '#test/process/store-in-use.ts';
import { START } from '#test/store-contract/builders.ts';
import { storeContract } from '#test/store-contract/store-contract.ts';
import { connector } from './connect.ts';
import { migrate } from './schema-version.ts';

/** Databases of the contract are copies of one that has the schema already. Creating it anew costs more. */
let template: TestDatabase | null = null;
beforeAll(async () => {
  template = await createDatabase(await sharedPostgres());
  const client = await connector(addressOf(template.url), { timers: systemTimers })();
  await migrate(client, START, () => Promise.resolve());
  await client.end();
});
afterAll(() => template?.drop());

storeContract('the PostgreSQL store', async () =>
  openedIn(await createDatabase(await sharedPostgres(), template?.name)),
);

// This takes half a minute more, so only `npm run test:postgres` runs it.
const older = IS_POSTGRES ? await olderPostgres() : undefined;
if (older === undefined)
  test.skip(
    'only with `npm run test:postgres`, and an older PostgreSQL that is installed or in SCHED_TEST_DATABASE_URL',
  );
else
  storeContract('the PostgreSQL store on an older server', async () => openedIn(await createDatabase(older)));
