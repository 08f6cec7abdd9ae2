/** A PostgreSQL store for the contract suite, in an existing database. */
import { instant } from '#src/domain/instant.ts';
import { type DatabaseAddress, parseDatabaseAddress } from '#src/store/postgres/address.ts';
import { openPostgres } from '#src/store/postgres/open-postgres.ts';
import { systemTimers } from '#src/system/timers.ts';
import { START } from '#test/store-contract/builders.ts';
import type { Opened } from '#test/store-contract/fixture.ts';
import type { TestDatabase } from './databases.ts';

/** Two stores of one database must not share the name of a node. */
let lives = 0;

export function addressOf(url: string): DatabaseAddress {
  const address = parseDatabaseAddress(url);
  if ('wrong' in address) throw new Error(address.wrong);
  return address;
}

export async function openedIn(database: TestDatabase, parameters = ''): Promise<Opened> {
  const address = addressOf(database.url + parameters);
  const clock = { now: () => instant(START) };
  const open = () =>
    openPostgres({ address, clock, timers: systemTimers, node: `life-${++lives}`, migrate: true });
  let store = await open();
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await open();
      return store;
    },
    close: async () => {
      await store.close();
      await database.drop();
    },
  };
}
