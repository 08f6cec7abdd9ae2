/** Returns every stored byte of a store, so that a test can check that something cannot be read in it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { query } from '#test/postgres/databases.ts';
import { databaseUrlOf, IS_POSTGRES } from './store-in-use.ts';

export async function storedBytes(dataDir: string): Promise<Buffer> {
  return IS_POSTGRES ? bytesOfTables(await databaseUrlOf(dataDir)) : bytesOfFiles(dataDir);
}

function bytesOfFiles(directory: string): Buffer {
  return Buffer.concat(readdirSync(directory).map((file) => readFileSync(join(directory, file))));
}

async function bytesOfTables(url: string): Promise<Buffer> {
  const tables = await query(
    url,
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const rows = await Promise.all(
    (tables as readonly { readonly name: string }[]).map(({ name }) => query(url, `SELECT * FROM ${name}`)),
  );
  const values = rows.flat().flatMap((row) => Object.values(row as object));
  return Buffer.concat(
    values.map((value) => (Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)))),
  );
}
