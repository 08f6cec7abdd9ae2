/** Drops the databases of a test file at its end, on PostgreSQL. */
import { afterAll } from 'vitest';
import { dropDatabases } from './store-in-use.ts';

afterAll(dropDatabases);
