/**
 * Moves the data from the data directory to PostgreSQL while the service is stopped. The sealed data is
 * copied as it is, so the master key must be the same there. The key is tested before anything is copied.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { IdMint } from '#src/domain/id.ts';
import { pause } from '#src/ports/system.ts';
import { type Moved, type MoveRefusal, move, type Progress } from '#src/store/move/move.ts';
import { describeAddress } from '#src/store/postgres/address.ts';
import { connector } from '#src/store/postgres/connect.ts';
import { migrate } from '#src/store/postgres/schema-version.ts';
import { openForWriting } from '#src/store/sqlite/connection.ts';
import { DATABASE_FILE } from '#src/store/sqlite/open-sqlite.ts';
import { systemClock } from '#src/system/clock.ts';
import { systemRandom } from '#src/system/random.ts';
import { systemTimers } from '#src/system/timers.ts';
import type { MoveSettings } from './config.ts';
import { markMoved, unmarkMoved } from './data-dir-markers.ts';
import { messageOf, StartFailure } from './failures.ts';
import { openDataDir } from './open-data-dir.ts';
import { openVault } from './open-vault.ts';

/** Returns how many rows each table had. */
export async function moveStore(
  settings: MoveSettings,
  progress: (progress: Progress) => void,
): Promise<Moved> {
  const { dataDir, databaseUrl: address } = settings;
  if (!existsSync(join(dataDir, DATABASE_FILE))) {
    throw new StartFailure(
      `There is no database in ${dataDir}, so there is nothing to move. Set SCHED_DATA_DIR to the directory of the service.`,
    );
  }
  const random = systemRandom();
  const store = await openDataDir(dataDir, systemClock, { exclusive: true, create: true, isMove: true });
  try {
    if ((await store.listProjects()).length === 0) {
      throw new StartFailure(`The database in ${dataDir} has no project, so there is nothing to move.`);
    }
    const ids = new IdMint((count) => random.bytes(count));
    await openVault(settings, { store, clock: systemClock, random, ids }, false);
    const moved = await copy(settings, progress).catch((error: unknown) => {
      throw new StartFailure(
        `${dataDir} could not be moved to ${describeAddress(address)}. ${messageOf(error)}`,
        { cause: error },
      );
    });
    if (moved === 'target_is_not_empty') {
      throw new StartFailure(
        `${describeAddress(address)} already has a project. Data can be moved only into an empty database: set SCHED_DATABASE_URL to one.`,
      );
    }
    markMoved(dataDir, 'moved', describeAddress(address));
    return moved;
  } finally {
    await store.close();
  }
}

async function copy(
  { dataDir, databaseUrl: address }: MoveSettings,
  progress: (progress: Progress) => void,
): Promise<Moved | MoveRefusal> {
  const connect = connector(address, { timers: systemTimers });
  const client = await connect();
  try {
    await migrate(client, systemClock.now(), (ms) => pause(systemTimers, ms));
  } finally {
    await client.end();
  }
  const source = openForWriting(join(dataDir, DATABASE_FILE));
  try {
    return await move({
      source,
      connect,
      timers: systemTimers,
      progress,
      committing: () => markMoved(dataDir, 'moving', describeAddress(address)),
      undone: () => unmarkMoved(dataDir),
    });
  } finally {
    source.close();
  }
}
