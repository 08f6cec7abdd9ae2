/**
 * New databases on an existing Citus cluster. No package registry has Citus. SCHED_TEST_CITUS_URL names the
 * coordinator, with a user who may create databases on every server.
 */
import { Client } from 'pg';
import { createDatabase, execute, type TestDatabase } from './databases.ts';

export const CITUS_URL = process.env.SCHED_TEST_CITUS_URL ?? '';

interface Worker {
  readonly host: string;
  readonly port: number;
}

/** Creates an empty database, with the extension on every server and the workers registered. */
export async function createCitusDatabase(coordinator: string = CITUS_URL): Promise<TestDatabase> {
  const workers = await workersOf(coordinator);
  const database = await createDatabase(coordinator);
  const { name } = database;
  const copies = workers.map((worker) => ({
    server: at(coordinator, worker),
    url: at(database.url, worker),
  }));
  for (const { server, url } of copies) {
    await execute(server, `CREATE DATABASE ${name}`);
    await execute(url, 'CREATE EXTENSION citus');
  }
  await execute(database.url, 'CREATE EXTENSION citus');
  const { hostname, port } = new URL(coordinator);
  await execute(database.url, `SELECT citus_set_coordinator_host('${hostname}', ${port})`);
  // Adding a worker alters the roles there, and two databases must not do that at once.
  await using _ = await lockOf(coordinator);
  for (const { host, port } of workers) {
    await execute(database.url, `SELECT citus_add_node('${host}', ${port})`);
  }
  const drop = async () => {
    await database.drop();
    for (const { server } of copies) await execute(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  };
  return { name, url: database.url, drop, [Symbol.asyncDispose]: drop };
}

const LOCK = 721_005;

async function lockOf(coordinator: string): Promise<AsyncDisposable> {
  const client = new Client({ connectionString: coordinator });
  await client.connect();
  await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
  return { [Symbol.asyncDispose]: () => client.end() };
}

/** The same database on each of the workers. */
export async function workerUrls(url: string): Promise<readonly string[]> {
  return (await workersOf(url)).map((worker) => at(url, worker));
}

async function workersOf(url: string): Promise<readonly Worker[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Worker>(
      'SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid > 0 ORDER BY nodeid',
    );
    return rows;
  } finally {
    await client.end();
  }
}

function at(url: string, { host, port }: Worker): string {
  const moved = new URL(url);
  moved.hostname = host;
  moved.port = String(port);
  return moved.href;
}
