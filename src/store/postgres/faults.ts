/** What an error says about the database: whether to wait for it, to try again, or that the program is wrong. */
import { DatabaseError } from 'pg';
import { StoreUnavailable } from '#src/ports/store.ts';

/**
 * `unavailable`: the server, the way to it or its disk is at fault; it may come back. Whether what was under
 * way has been carried out is not known. `retry`: it has not been, and may be at once. `broken`: it will not
 * be any better the next time.
 */
export type Fault = 'unavailable' | 'retry' | 'broken';

/**
 * By SQLSTATE: the connection (08), a session ended for its idleness (25P03, 25P04), a server that has become
 * a standby (25006), a login or a database that is refused for now (28, 3D000), a transaction of which nobody
 * knows the end (40003), too little of something (53), shutdown, crash and start (57P01 to 57P05), the
 * system's own trouble (58).
 */
const UNAVAILABLE = /^(08...|25006|25P03|25P04|28...|3D000|40003|53...|57P0[1-5]|58...)$/;

/** Serialization failure, deadlock, a lock that took too long, a statement that was cancelled. */
const RETRY = /^(40001|40P01|55P03|57014)$/;

const UNREACHABLE =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|E(HOST|NET)(UNREACH|DOWN)|ENETRESET|EADDRNOTAVAIL|ENOTFOUND|EAI_.*|EPROTO|ERR_(SSL|TLS|STREAM)_.*)$/;

/** The driver's own errors have nothing but their words to be known by. */
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

/** For those above the store, who know no SQLSTATE. What is broken stays as it is. */
export function unavailableInstead(error: unknown): unknown {
  if (error instanceof StoreUnavailable || faultOf(error) === 'broken') return error;
  return new StoreUnavailable(`PostgreSQL: ${error instanceof Error ? error.message : String(error)}.`, {
    cause: error,
  });
}

/** SQLSTATE, or the name that the system gives it; '' if it has none. */
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
