import { test } from 'vitest';
import { storeContract } from '#src/store/contract/store-contract.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { olderPostgres, sharedPostgres } from '#test/postgres/shared.ts';
import { IS_POSTGRES } from '#test/process/store-in-use.ts';

storeContract('the PostgreSQL store', async () => openedIn(await createDatabase(await sharedPostgres())));

// This takes half a minute more, so only `npm run test:postgres` runs it.
const older = IS_POSTGRES ? await olderPostgres() : undefined;
if (older === undefined)
  test.skip(
    'only with `npm run test:postgres`, and an older PostgreSQL that is installed or in SCHED_TEST_DATABASE_URL',
  );
else
  storeContract('the PostgreSQL store on an older server', async () => openedIn(await createDatabase(older)));
