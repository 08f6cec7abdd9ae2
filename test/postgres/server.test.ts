import { cpSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binariesIn, installedBinaries, npmBinaries } from './binaries.ts';
import { removeFolder, temporaryFolder } from './cleanup.ts';
import { createDatabase, execute, query } from './databases.ts';
import { type PostgresServer, startPostgres } from './server.ts';
import { olderPostgres, sharedPostgres } from './shared.ts';

describe('the shared server of a run', () => {
  it('gives each test an empty database and drops it at the end', async () => {
    const shared = await sharedPostgres();
    const one = await createDatabase(shared);
    await execute(one.url, 'CREATE TABLE thing (id int)');
    await using other = await createDatabase(shared);
    expect(await query(other.url, `SELECT to_regclass('thing') AS found`)).toEqual([{ found: null }]);
    await using copy = await createDatabase(shared, one.name);
    expect(await query(copy.url, 'SELECT count(*)::int AS things FROM thing')).toEqual([{ things: 0 }]);
    await one.drop();
    await expect(query(one.url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' });
  });

  it('does not sort text by bytes', async () => {
    const sorted = `SELECT string_agg(text, '' ORDER BY text) AS text FROM unnest(ARRAY['B', 'a']) AS text`;
    expect(await query(await sharedPostgres(), sorted)).toEqual([{ text: 'aB' }]);
  });

  it.skipIf(installedBinaries() === undefined)(
    'is accompanied by an older version, if one is installed',
    async () => {
      expect(await query((await olderPostgres()) ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    },
  );
});

it.runIf(process.getuid?.() === 0)('a server starts from a folder that only root may enter', async () => {
  const closed = temporaryFolder();
  try {
    cpSync(npmBinaries().packageFolder, closed, { recursive: true });
    await using server = await startPostgres({ binaries: binariesIn(closed) });
    expect(await query(server.url(), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  } finally {
    removeFolder(closed);
  }
});

const versions = [npmBinaries(), installedBinaries()].filter((binaries) => binaries !== undefined);

describe.each(versions)('a server of version $majorVersion', (binaries) => {
  let server: PostgresServer;
  const rows = () => query(server.url(), 'SELECT id FROM thing ORDER BY id');

  beforeAll(async () => {
    server = await startPostgres({ binaries, settings: { max_connections: 30 } });
    await execute(server.url(), 'CREATE TABLE thing (id int)');
    await execute(server.url(), 'INSERT INTO thing VALUES (1)');
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  it('has the requested settings', async () => {
    expect(await query(server.url(), 'SHOW max_connections')).toEqual([{ max_connections: '30' }]);
    await server.configure({ work_mem: '5MB' });
    await expect.poll(() => query(server.url(), 'SHOW work_mem')).toEqual([{ work_mem: '5MB' }]);
  });

  it.each(['fast', 'immediate'] as const)('keeps its data after a stop (%s)', async (mode) => {
    await server.stop(mode);
    await expect(rows()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await server.start();
    expect(await rows()).toEqual([{ id: 1 }]);
  });

  it('can be killed with all its sessions, and started again', async () => {
    const sleeper = query(server.url(), 'SELECT pg_sleep(60)');
    sleeper.catch(() => undefined);
    await expect
      .poll(() =>
        query(server.url(), `SELECT 1 AS one FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'`),
      )
      .toEqual([{ one: 1 }]);
    await server.kill();
    await expect(sleeper).rejects.toThrow();
    await server.start();
    expect(await rows()).toEqual([{ id: 1 }]);
  });

  it('has a standby that can be promoted', async () => {
    await using standby = await server.standby({ name: 'second' });
    await server.configure({ synchronous_standby_names: 'second', synchronous_commit: 'remote_apply' });
    await expect
      .poll(() => query(server.url(), 'SELECT sync_state FROM pg_stat_replication'))
      .toEqual([{ sync_state: 'sync' }]);
    await execute(server.url(), 'INSERT INTO thing VALUES (2)');
    expect(await query(standby.url(), 'SELECT pg_is_in_recovery() AS is_standby')).toEqual([
      { is_standby: true },
    ]);
    expect(await query(standby.url(), 'SELECT id FROM thing ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }]);
    await server.kill();
    await standby.promote();
    await execute(standby.url(), 'INSERT INTO thing VALUES (3)');
    expect(await query(standby.url(), 'SELECT count(*)::int AS things FROM thing')).toEqual([{ things: 3 }]);
  });
});
