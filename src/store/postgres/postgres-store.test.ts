import { test } from 'vitest';
import { storeContract } from '#src/store/contract/store-contract.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { olderPostgres, sharedPostgres } from '#test/postgres/shared.ts';
import { IS_POSTGRES } from '#test/process/store-in-use.ts';

storeContract('the PostgreSQL store', async () => openedIn(await createDatabase(await sharedPostgres())));

// Half a minute more: by `npm run test:postgres` alone.
const older = IS_POSTGRES ? await olderPostgres() : undefined;
if (older === undefined)
  test.skip('not asked for, or no older PostgreSQL is installed and SCHED_TEST_DATABASE_URL names none');
else
  storeContract('the PostgreSQL store on an older server', async () => openedIn(await createDatabase(older)));
