import type { Client } from 'pg';
import { type Clock, pause, type Timers } from '#src/ports/system.ts';
import { placementOf } from './citus.ts';
import { unavailableInstead } from './errors.ts';
import type { Placement } from './placement.ts';
import { migrate, requireCurrent } from './schema-version.ts';

/** Rows of processes that have ended are removed after this time. A running process adds its row again. */
const WRITER_RETENTION_MS = 7 * 86_400_000;

/** The clock of the database decides. A node whose clock is ahead must not remove rows of others. */
const REMOVE_OLD_WRITERS = `DELETE FROM writers
  WHERE at < floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - $1::bigint`;

interface SchemaOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly migrate: boolean;
}

/** Checks or migrates the schema. Returns where its rows are stored. */
export async function prepareSchema(
  { clock, timers, migrate: mayMigrate }: SchemaOptions,
  connect: () => Promise<Client>,
): Promise<Placement> {
  try {
    const client = await connect();
    try {
      if (mayMigrate) {
        await migrate(client, clock.now(), (ms) => pause(timers, ms));
        await client.query(REMOVE_OLD_WRITERS, [WRITER_RETENTION_MS]);
      } else await requireCurrent(client);
      return await placementOf(client);
    } finally {
      await client.end();
    }
  } catch (error) {
    throw unavailableInstead(error);
  }
}
