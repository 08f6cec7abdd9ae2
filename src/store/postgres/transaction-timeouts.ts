/**
 * Limits how long a transaction may hold locks, and sets its isolation, whatever the defaults of the server are.
 *
 * A node that is cut off during a transaction cannot end it, so the server has to. PostgreSQL 17 has a limit for
 * whole transactions, which is set once for the session, with the other settings. An older server only ends
 * transactions that are idle, and a session behind a pooler is shared. There every transaction sets the limits
 * itself.
 */
import type { Client } from 'pg';

/** A transaction that waits longer for a lock would delay all those behind it. */
const LOCK_MS_MAX = 3_000;
/** A node that stops during a transaction must not hold its locks for long. */
const IDLE_MS_MAX = 5_000;
const TRANSACTION_MS_MAX = 10_000;

export const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
  SET LOCAL lock_timeout = ${LOCK_MS_MAX};
  SET LOCAL statement_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS_MAX}`;

const HAS_TRANSACTION_TIMEOUT = `SELECT 1 FROM pg_settings WHERE name = 'transaction_timeout'`;
const SESSION_SETTINGS = `SET transaction_timeout = ${TRANSACTION_MS_MAX};
  SET lock_timeout = ${LOCK_MS_MAX};
  SET statement_timeout = 0;
  SET idle_in_transaction_session_timeout = ${IDLE_MS_MAX};
  SET default_transaction_isolation = 'read committed';
  SET default_transaction_read_only = off`;

/** Returns whether all later transactions of the session have the limits, without setting them again. */
export async function setSessionTimeouts(client: Client): Promise<boolean> {
  const { rowCount } = await client.query(HAS_TRANSACTION_TIMEOUT);
  if (rowCount !== 1) return false;
  await client.query(SESSION_SETTINGS);
  return true;
}
