/**
 * A data directory whose data lives in PostgreSQL by now says so: a service that started on it again would send
 * everything a second time.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from './failures.ts';

export const MOVED_FILE = 'moved';

export function markMoved(directory: string, to: string): void {
  writeFileSync(join(directory, MOVED_FILE), `${to}\n`, { mode: 0o600 });
}

export function refuseMoved(directory: string): void {
  const path = join(directory, MOVED_FILE);
  if (!existsSync(path)) return;
  const to = readFileSync(path, 'utf8').trim();
  throw new StartFailure(
    `The data in ${directory} was moved to ${to}: set SCHED_DATABASE_URL. (${path} says so.)`,
  );
}
