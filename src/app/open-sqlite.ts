/** Opens the store in the data directory. Whatever stands in the way is said in one line. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#src/ports/system.ts';
import { DATABASE_FILE, SqliteStore } from '#src/store/sqlite/sqlite-store.ts';
import { systemTimers } from '#src/system/timers.ts';
import { markPlayground, refuseOthers } from './dev/mark.ts';
import { messageOf, StartFailure, systemCodeOf } from './failures.ts';
import { refuseMoved } from './moved-mark.ts';
import type { OpenStoreOptions } from './open-store.ts';

export interface OpenSqliteOptions extends Pick<OpenStoreOptions, 'exclusive' | 'create' | 'isPlayground'> {
  /** Whether it is opened to be moved. */
  readonly isMove?: boolean;
}

export async function openSqlite(
  directory: string,
  clock: Clock,
  { exclusive, create, isMove = false, isPlayground = false }: OpenSqliteOptions,
): Promise<SqliteStore> {
  refuseMoved(directory, isMove);
  if (exclusive) refuseOthers(directory, isPlayground);
  if (create) prepareDirectory(directory);
  else if (!existsSync(join(directory, DATABASE_FILE))) {
    throw new StartFailure(
      `There is no database in ${directory}: start the service or run \`sched migrate\` first, or set SCHED_DATA_DIR.`,
    );
  }
  if (isPlayground) markPlayground(directory);
  try {
    return await SqliteStore.open({
      directory,
      now: clock.now(),
      exclusive,
      migrate: create,
      timers: systemTimers,
    });
  } catch (error) {
    throw new StartFailure(`The store in ${directory} cannot be opened. ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Asked before SQLite is: all it can say is "unable to open database file". */
function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    // A file in its place is told below.
    if (systemCodeOf(error) !== 'EEXIST')
      refuse(directory, `cannot be created (${systemCodeOf(error)})`, error);
  }
  if (!statSync(directory).isDirectory()) refuse(directory, 'is not a directory');
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    refuse(directory, `is not writable (${systemCodeOf(error)})`, error);
  }
}

function refuse(directory: string, why: string, cause?: unknown): never {
  throw new StartFailure(`The data directory ${directory} ${why}; see SCHED_DATA_DIR.`, { cause });
}
