/** Classifies errors: wait for the database, try again, or report a bug. */
import { DatabaseError } from 'pg';
import { StoreUnavailable } from '#src/ports/store.ts';

/**
 * `unavailable`: the server, the network or the disk is at fault, and may come back. It is not known whether
 * statements in flight took effect. `retry`: they took no effect, and can be sent again at once. `broken`: another
 * attempt would fail the same way.
 */
export type Fault = 'unavailable' | 'retry' | 'broken';

/**
 * SQLSTATE codes: connection (08), a session ended because it was idle (25P03, 25P04), a server that became a
 * standby (25006), a login or database refused for now (28, 3D000), a transaction with unknown outcome (40003), too
 * few resources (53), shutdown, crash and start (57P01 to 57P05), system errors (58).
 */
const UNAVAILABLE = /^(08...|25006|25P03|25P04|28...|3D000|40003|53...|57P0[1-5]|58...)$/;

/** Serialization failure, deadlock, lock timeout and a cancelled statement. */
const RETRY = /^(40001|40P01|55P03|57014)$/;

const UNREACHABLE =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|E(HOST|NET)(UNREACH|DOWN)|ENETRESET|EADDRNOTAVAIL|ENOTFOUND|EAI_.*|EPROTO|ERR_(SSL|TLS|STREAM)_.*)$/;

/** Errors of the driver itself have no code, only a message. */
const DRIVER_SAYS = /^(Connection terminated|Client (has encountered|was closed)|timeout expired|Query read)/;

export function faultOf(error: unknown): Fault {
  if (error instanceof StoreUnavailable) return 'unavailable';
  if (!(error instanceof Error)) return 'broken';
  const code = codeOf(error);
  if (error instanceof DatabaseError) {
    if (RETRY.test(code)) return 'retry';
    return UNAVAILABLE.test(code) ? 'unavailable' : 'broken';
  }
  return UNREACHABLE.test(code) || DRIVER_SAYS.test(error.message) ? 'unavailable' : 'broken';
}

export function isUnavailable(error: unknown): boolean {
  return faultOf(error) === 'unavailable';
}

/** Layers above the store do not know SQLSTATE, so they get `StoreUnavailable`. A broken statement stays as it is. */
export function unavailableInstead(error: unknown): unknown {
  if (error instanceof StoreUnavailable || faultOf(error) === 'broken') return error;
  return new StoreUnavailable(`PostgreSQL: ${error instanceof Error ? error.message : String(error)}.`, {
    cause: error,
  });
}

/** The SQLSTATE, or the system's error code; '' if there is none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/**
 * Waits for all statements of a transaction. It fails with the first error, because later statements only report that
 * the transaction has failed. A lost connection takes precedence: then the outcome is not known.
 */
export async function awaitAll(sent: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(sent);
  const lost = results.findLast((result) => result.status === 'rejected');
  if (lost !== undefined && faultOf(lost.reason) === 'unavailable') throw lost.reason;
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
