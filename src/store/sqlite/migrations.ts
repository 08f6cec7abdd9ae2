import type { Migration } from '#src/store/sql/migration.ts';

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'schema.sql', sql: new URL('./schema.sql', import.meta.url) },
  { version: 2, name: 'schema-2.sql', sql: new URL('./schema-2.sql', import.meta.url) },
  { version: 3, name: 'schema-3.sql', sql: new URL('./schema-3.sql', import.meta.url) },
];
