import type { Timers } from '#src/ports/system.ts';
import type { DatabaseAddress } from './address.ts';
import { connect } from './connect.ts';
import { unavailableInstead } from './errors.ts';

/** An arbitrary number that no other program locks. */
const LOCK = 0x5343_4842;

/**
 * Runs `act` while no other node does, for what a first start must create only once. A transaction of its own holds
 * the lock, so a pooler cannot separate lock and unlock.
 */
export async function withAdvisoryLock<T>(
  address: DatabaseAddress,
  timers: Timers,
  act: () => Promise<T>,
): Promise<T> {
  const client = await connect(address, { timers }).catch((error: unknown) => {
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
