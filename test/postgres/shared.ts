/**
 * The PostgreSQL that all test files of a run share, each in databases of its own. It is started when the
 * first of them asks: a run that needs none pays nothing.
 *
 *     await using database = await createDatabase(await sharedPostgres());
 */
import { inject } from 'vitest';

/** The URL of its database `postgres`. Here nothing reaches the disk. */
export async function sharedPostgres(): Promise<string> {
  const url = await started('npm');
  if (url === undefined) throw new Error('The binaries of npm are missing.');
  return url;
}

/** An older one: what SCHED_TEST_DATABASE_URL says, else what the machine has, else undefined. */
export async function olderPostgres(): Promise<string | undefined> {
  return process.env.SCHED_TEST_DATABASE_URL ?? (await started('installed'));
}

async function started(which: 'npm' | 'installed'): Promise<string | undefined> {
  const answer = await fetch(`${inject('postgresStarter')}/${which}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`The shared PostgreSQL did not start: ${text}`);
  return text === '' ? undefined : text;
}
