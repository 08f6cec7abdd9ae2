/** New databases for tests: created empty on an existing server, and dropped at the end. */
import { randomBytes } from 'node:crypto';
import { Client, escapeIdentifier } from 'pg';

/** Many services connect at once, beside other tests. */
const CONNECT_S_MAX = 60;

export interface TestDatabase extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  /** Also ends open connections. */
  drop(): Promise<void>;
}

/** Copies `template`, to which no client may be connected. The default template is empty. */
export async function createDatabase(serverUrl: string, template = 'template1'): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await execute(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${escapeIdentifier(template)}`);
  const drop = () => execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  return { name, url: withDatabase(serverUrl, name), drop, [Symbol.asyncDispose]: drop };
}

/** Runs one statement on a connection of its own. */
export async function execute(url: string, sql: string): Promise<void> {
  await query(url, sql);
}

export async function query(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  // A connection error fails the statement. Without a listener it would end the process.
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
  url.searchParams.set('connect_timeout', String(CONNECT_S_MAX));
  return url.href;
}
