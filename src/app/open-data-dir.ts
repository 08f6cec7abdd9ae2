/** Opens the store in the data directory. A failure is explained in one line. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#src/ports/system.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import type { WriterData } from '#src/store/sqlite/executor.ts';
import { DATABASE_FILE, openSqlite } from '#src/store/sqlite/open-sqlite.ts';
import type { WriteQueue } from '#src/store/sqlite/writer.ts';
import { systemTimers } from '#src/system/timers.ts';
import { checkNotMoved, checkPlayground, markPlayground } from './data-dir-markers.ts';
import { messageOf, StartFailure, systemCodeOf } from './failures.ts';

export interface OpenDataDirOptions {
  /** The service needs the data directory for itself. The command line opens it beside the service. */
  readonly exclusive: boolean;
  /** Whether a missing database is created, and an old one migrated. */
  readonly create: boolean;
  /** Whether `sched dev` opens it. */
  readonly isPlayground?: boolean;
  /** Whether `sched move` opens it. */
  readonly isMove?: boolean;
}

export async function openDataDir(
  directory: string,
  clock: Clock,
  { exclusive, create, isMove = false, isPlayground = false }: OpenDataDirOptions,
): Promise<SqlStore> {
  checkNotMoved(directory, isMove);
  if (exclusive) checkPlayground(directory, isPlayground);
  if (create) prepareDirectory(directory);
  else if (!existsSync(join(directory, DATABASE_FILE))) {
    throw new StartFailure(
      `There is no database in ${directory}. Start the service or run \`sched migrate\` first, or set SCHED_DATA_DIR to another directory.`,
    );
  }
  if (isPlayground) markPlayground(directory);
  try {
    return await openSqlite({
      directory,
      now: clock.now(),
      exclusive,
      migrate: create,
      timers: systemTimers,
      ...(exclusive ? {} : { openWriter: openDirectWriter }),
    });
  } catch (error) {
    throw new StartFailure(`The store in ${directory} cannot be opened. ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Loaded only when needed: the thread of the service does not write. */
async function openDirectWriter(data: WriterData): Promise<WriteQueue> {
  const { DirectWriter } = await import('#src/store/sqlite/direct-writer.ts');
  return new DirectWriter(data);
}

/** Runs before SQLite, whose only message would be "unable to open database file". */
function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    // A file of the same name is reported below.
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
  throw new StartFailure(`The data directory ${directory} ${why}. Change it, or set SCHED_DATA_DIR.`, {
    cause,
  });
}
