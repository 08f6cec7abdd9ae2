/** For every test file that runs on PostgreSQL: at its end its databases go. */
import { afterAll } from 'vitest';
import { dropDatabases } from './store-in-use.ts';

afterAll(dropDatabases);
