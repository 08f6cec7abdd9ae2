/**
 * The PostgreSQL server that all test files of a run share, each with its own databases. The first test that needs
 * it starts it.
 *
 *       await using database = await createDatabase(await sharedPostgres());
 */
import { inject } from 'vitest';

/** The URL of its database `postgres`. This server does not sync to the disk. */
export async function sharedPostgres(): Promise<string> {
  const url = await started('npm');
  if (url === undefined) throw new Error('The PostgreSQL binaries from npm are missing.');
  return url;
}

/** An older version: that of SCHED_TEST_DATABASE_URL, or an installed one, or undefined. */
export async function olderPostgres(): Promise<string | undefined> {
  return process.env.SCHED_TEST_DATABASE_URL ?? (await started('installed'));
}

async function started(which: 'npm' | 'installed'): Promise<string | undefined> {
  const answer = await fetch(`${inject('postgresStarter')}/${which}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`The shared PostgreSQL did not start: ${text}`);
  return text === '' ? undefined : text;
}
