/** This asks the database itself. The answers to customers are in `test/e2e/rolling-upgrade.test.ts`. */
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { START } from '#test/store-contract/builders.ts';
import { RollingUpgrade } from './rolling-upgrade.ts';

test('older programs are kept from starting before something new is used, and not while one still runs', async () => {
  const database = await createDatabase(await sharedPostgres());
  const opened = await openedIn(database);
  const { store } = opened;
  const client = new Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await opened.close();
  });
  const compatible = async () =>
    (await client.query('SELECT works_with FROM schema_versions ORDER BY version DESC LIMIT 1')).rows;
  let elapsed = 0;
  const upgrade = new RollingUpgrade(store, { elapsed: () => elapsed });
  const leaseUntil = instant(START + 1000);
  await store.renewLease({ node: 'old', leaseUntil, isStopping: false, version: '0.1.0' });

  await expect(upgrade.requireSince('0.2.0')).rejects.toMatchObject({ code: 'unavailable' });
  expect(await compatible()).toEqual([{ works_with: 1 }]);
  await store.leave('old');
  elapsed += 1000;
  await upgrade.requireSince('0.2.0');
  expect(await compatible()).toEqual([{ works_with: 2 }]);

  // One that had read the schema before may still come.
  await store.renewLease({ node: 'old', leaseUntil, isStopping: false, version: '0.1.0' });
  elapsed += 1000;
  await expect(upgrade.requireSince('0.2.0')).rejects.toMatchObject({ code: 'unavailable' });
});
