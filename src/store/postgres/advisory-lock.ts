import type { Timers } from '#src/ports/system.ts';
import type { DatabaseAddress } from './address.ts';
import { connect } from './connect.ts';
import { unavailableInstead } from './faults.ts';
import { decodeText } from './parameter-encoding.ts';

/** Any number that nobody else takes a lock on. */
const LOCK = 0x5343_4842;

/**
 * Does something while no other node does: what a first start makes must be made once. The lock belongs to a
 * transaction that does nothing else, so that a pooler between cannot part them.
 */
export async function withAdvisoryLock<T>(
  address: DatabaseAddress,
  timers: Timers,
  act: () => Promise<T>,
): Promise<T> {
  const client = await connect(address, { timers, decodeText }).catch((error: unknown) => {
    throw unavailableInstead(error);
  });
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    const done = await act();
    await client.query('COMMIT');
    return done;
  } finally {
    await client.end();
  }
}
