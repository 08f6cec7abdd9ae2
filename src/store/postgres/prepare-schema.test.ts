import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { instant, MS_PER_DAY } from '#src/domain/instant.ts';
import { systemClock } from '#src/system/clock.ts';
import { systemTimers } from '#src/system/timers.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { prepareSchema } from './schema-version.ts';

const YEAR_MS = 365 * MS_PER_DAY;
const DATABASE_TIME = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

test.for([
  ['right', 0],
  ['a year ahead', YEAR_MS],
  ['a year behind', -YEAR_MS],
] as const)('with a clock that is %s, only writers older than a week are removed', async ([, offMs]) => {
  const database = await createDatabase(await sharedPostgres());
  onTestFinished(() => database.drop());
  const connect = async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    return client;
  };
  const prepare = () =>
    prepareSchema(
      { clock: { now: () => instant(systemClock.now() + offMs) }, timers: systemTimers, migrate: true },
      connect,
    );
  await prepare();
  const client = await connect();
  onTestFinished(() => client.end());
  await client.query(
    `INSERT INTO writers (writer, last, at) VALUES
       ('at work', 2, ${DATABASE_TIME}),
       ('of this week', 2, ${DATABASE_TIME} - ${6 * MS_PER_DAY}),
       ('gone', 2, ${DATABASE_TIME} - ${8 * MS_PER_DAY})`,
  );
  await prepare();
  const { rows } = await client.query('SELECT writer FROM writers ORDER BY writer');
  expect(rows).toEqual([{ writer: 'at work' }, { writer: 'of this week' }]);
});
