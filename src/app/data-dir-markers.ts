/**
 * Marker files in a data directory, which keep a service from starting on data that it must not use.
 *
 * `playground` marks the data of `sched dev`. Its keys are public, so a service must not start on it, and
 * `sched dev` must not add these keys to the data of a service.
 *
 * `moved` marks data that was moved to PostgreSQL. A service that started on it again would send everything a
 * second time. The file is written just before the move is committed, so a crash at any moment never leaves
 * two stores that could both be started.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE_FILE } from '#src/store/sqlite/open-sqlite.ts';
import { StartFailure } from './failures.ts';

const PLAYGROUND_FILE = 'playground';
const PLAYGROUND_TEXT =
  'This is the data of `sched dev`. Its keys are known to everyone, so no service starts on it.\n';
const MOVED_FILE = 'moved';

export function markPlayground(directory: string): void {
  writeFileSync(join(directory, PLAYGROUND_FILE), PLAYGROUND_TEXT, { mode: 0o600 });
}

/** Throws if a service opens the data of `sched dev`, or `sched dev` opens the data of a service. */
export function checkPlayground(directory: string, isPlayground: boolean): void {
  const isMarked = existsSync(join(directory, PLAYGROUND_FILE));
  if (isMarked && !isPlayground) {
    throw new StartFailure(
      `The data in ${directory} belongs to \`sched dev\`, whose keys are known to everyone. Set SCHED_DATA_DIR to another directory.`,
    );
  }
  if (isPlayground && !isMarked && existsSync(join(directory, DATABASE_FILE))) {
    throw new StartFailure(
      `The data in ${directory} belongs to a service, and \`sched dev\` would add keys to it that are known to everyone. Choose another --data-dir.`,
    );
  }
}

export function markMoved(directory: string, state: 'moving' | 'moved', to: string): void {
  writeFileSync(join(directory, MOVED_FILE), `${state} to ${to}\n`, { mode: 0o600, flush: true });
}

export function unmarkMoved(directory: string): void {
  rmSync(join(directory, MOVED_FILE), { force: true });
}

/** Throws if the data was moved. `isMove`: a move may be repeated if the last one was interrupted. */
export function checkNotMoved(directory: string, isMove: boolean): void {
  const path = join(directory, MOVED_FILE);
  if (!existsSync(path)) return;
  const [, state, to] = /^(moving|moved) to (.*)$/m.exec(readFileSync(path, 'utf8')) ?? [];
  if (state !== 'moving') {
    throw new StartFailure(
      `The data in ${directory} was moved to ${to}, as the file ${path} says. Set SCHED_DATABASE_URL to use it.`,
    );
  }
  if (isMove) return;
  throw new StartFailure(
    `Moving the data in ${directory} to ${to} was interrupted, as the file ${path} says. If a project exists there, the move is complete: set SCHED_DATABASE_URL. Otherwise run \`sched move\` again.`,
  );
}
