/**
 * A migration brings the schema to its version. Migrations only go forward: a released one never changes, and a
 * change is a new migration. Version 1 is the file `schema.sql` of the dialect.
 */
import { readFileSync } from 'node:fs';
import { StoreUnavailable } from '#src/ports/store.ts';

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

/** A command that runs beside a service requires the same schema as the service. */
export function requireVersion(needed: number, current: number): void {
  if (current < needed) {
    throw new StoreUnavailable(
      `The database has schema version ${current}, this version of Sched needs ${needed}: run \`sched migrate\`.`,
    );
  }
}

export function newerVersion(known: number, current: number): StoreUnavailable {
  return new StoreUnavailable(
    `The database has schema version ${current}, this version of Sched knows ${known}. Run a newer Sched.`,
  );
}
