import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { START } from '#test/store-contract/builders.ts';
import { storeContract } from '#test/store-contract/store-contract.ts';
import { openSqlite } from './open-sqlite.ts';

storeContract('the SQLite store', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sched-contract-'));
  let store = await openSqlite({ directory, now: START, exclusive: true });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openSqlite({ directory, now: START, exclusive: true });
      return store;
    },
    close: async () => {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
});
