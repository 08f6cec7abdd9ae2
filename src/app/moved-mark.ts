/**
 * A data directory whose data lives in PostgreSQL by now says so: a service that started on it again would send
 * everything a second time. It says so from just before the move is committed, so that no end of the process, at
 * whatever moment, leaves two that could be started.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from './failures.ts';

export const MOVED_FILE = 'moved';

type Mark = 'moving' | 'moved';

export function mark(directory: string, mark: Mark, to: string): void {
  writeFileSync(join(directory, MOVED_FILE), `${mark} to ${to}\n`, { mode: 0o600, flush: true });
}

export function unmark(directory: string): void {
  rmSync(join(directory, MOVED_FILE), { force: true });
}

/** `again`: whether this is another attempt to move it, which is in order where the last one did not come to its end. */
export function refuseMoved(directory: string, again: boolean): void {
  const path = join(directory, MOVED_FILE);
  if (!existsSync(path)) return;
  const [, state, to] = /^(moving|moved) to (.*)$/m.exec(readFileSync(path, 'utf8')) ?? [];
  if (state !== 'moving') {
    throw new StartFailure(
      `The data in ${directory} was moved to ${to}: set SCHED_DATABASE_URL. (${path} says so.)`,
    );
  }
  if (again) return;
  throw new StartFailure(
    `Moving the data in ${directory} to ${to} was interrupted: if there is a project there, all of it is; else run \`sched move\` again. (${path} says so.)`,
  );
}
