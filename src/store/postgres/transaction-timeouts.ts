/**
 * How long a transaction may hold the rows that it has locked, and by which rules it goes, whatever the defaults of
 * the server are.
 *
 * A node that is cut off in the middle of a transaction cannot end it: the server has to. Where it ends what has
 * taken too long (PostgreSQL 17), that is asked for once, with the rest of the rules, when the session begins. An
 * older server only ends what it is waiting to hear more of, and a session behind a pooler is anybody's: there
 * every transaction says the rules itself.
 */
import type { Client } from 'pg';

/** What waits for a row that another transaction holds must not hold up everybody behind it. */
const LOCK_MS_MAX = 3_000;
/** A node that stands still in the middle of a transaction must not hold its rows for long. */
const IDLE_MS_MAX = 5_000;
const TRANSACTION_MS_MAX = 10_000;

export const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
  SET LOCAL lock_timeout = ${LOCK_MS_MAX};
  SET LOCAL statement_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS_MAX}`;

const ENDS_THEM = `SELECT 1 FROM pg_settings WHERE name = 'transaction_timeout'`;
const RULES = `SET transaction_timeout = ${TRANSACTION_MS_MAX};
  SET lock_timeout = ${LOCK_MS_MAX};
  SET statement_timeout = 0;
  SET idle_in_transaction_session_timeout = ${IDLE_MS_MAX};
  SET default_transaction_isolation = 'read committed';
  SET default_transaction_read_only = off`;

/** Whether every transaction of the session goes by the rules from now on, also one that does not say them. */
export async function setSessionTimeouts(client: Client): Promise<boolean> {
  const { rowCount } = await client.query(ENDS_THEM);
  if (rowCount !== 1) return false;
  await client.query(RULES);
  return true;
}
