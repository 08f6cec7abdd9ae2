/**
 * A migration brings the schema to its version. Migrations only go forward: a released one never changes, and a
 * change is a new migration. Version 1 is the file `schema.sql` of the dialect.
 */
import { readFileSync } from 'node:fs';

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** The statements, or the file that has them. */
  readonly sql: string | URL;
}

export const MADE_BY_EARLIER_VERSION =
  'The database was made by an earlier version of Sched, and this version cannot migrate it.';

export function sqlOf({ sql }: Migration): string {
  return typeof sql === 'string' ? sql : readFileSync(sql, 'utf8');
}

export function newestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}
