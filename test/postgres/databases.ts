/** Databases of their own for tests: made empty in a server that is there, gone at the end. */
import { randomBytes } from 'node:crypto';
import { Client, escapeIdentifier } from 'pg';

export interface TestDatabase extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  /** Cuts whoever is still connected. */
  drop(): Promise<void>;
}

/** As a copy of `template`, to which nobody may be connected then; of an empty one if not said. */
export async function createDatabase(serverUrl: string, template = 'template1'): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await execute(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${escapeIdentifier(template)}`);
  const drop = () => execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  return { name, url: withDatabase(serverUrl, name), drop, [Symbol.asyncDispose]: drop };
}

/** One statement on a connection of its own. */
export async function execute(url: string, sql: string): Promise<void> {
  await query(url, sql);
}

export async function query(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  // What happens to the connection fails the statement; unheard, it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
