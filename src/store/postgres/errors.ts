/**
 * One table says how the store treats an error of the database, the system or the driver.
 *
 * The server and the system give codes. The driver's own errors have only a message: these are the few entries with
 * a whole sentence as their key, and `errors.test.ts` provokes each of them.
 */
import { DatabaseError } from 'pg';
import { StoreUnavailable } from '#src/ports/store.ts';

/**
 * `unavailable`: the server, the network or the disk is at fault, and may come back. It is not known whether
 * statements in flight took effect. `retry`: they took no effect, and can be sent again at once. `locked`: likewise,
 * because a lock was not free in time. `not_held`: a check of ours undid the transaction. `foreign`: another program's
 * table has the name of ours. `broken`: another attempt would fail the same way.
 */
export type ErrorMeaning = 'unavailable' | 'retry' | 'locked' | 'not_held' | 'foreign' | 'broken';

interface KnownError {
  readonly means: ErrorMeaning;
  /** Continues a sentence that begins with the host. Default: the message of the error. */
  readonly words?: string;
  /** Whether a connection without TLS may succeed. */
  readonly isAboutTls?: true;
}

const UNAVAILABLE: KnownError = { means: 'unavailable' };
const RETRY: KnownError = { means: 'retry' };
const ABOUT_TLS: KnownError = { means: 'unavailable', isAboutTls: true };

/** A key that ends with `*` is for all codes that begin like it, unless a code has an entry of its own. */
export const ERRORS: Readonly<Record<string, KnownError>> = {
  // SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html
  /** connection_exception: Citus also reports a lost worker by it. */
  '08*': UNAVAILABLE,
  /** division_by_zero: the checks of the executor divide by zero. */
  '22012': { means: 'not_held' },
  /** read_only_sql_transaction: the server became a standby. */
  '25006': UNAVAILABLE,
  /** idle_in_transaction_session_timeout */
  '25P03': UNAVAILABLE,
  /** transaction_timeout: like the one before it ends the session. */
  '25P04': UNAVAILABLE,
  /** invalid_authorization_specification: a login may be allowed again. */
  '28*': UNAVAILABLE,
  /** The server may refuse this login only with TLS. */
  '28000': ABOUT_TLS,
  '28P01': { means: 'unavailable', words: 'refuses the password' },
  '3D000': { means: 'unavailable', words: 'has no such database' },
  /** serialization_failure */
  '40001': RETRY,
  /** statement_completion_unknown */
  '40003': UNAVAILABLE,
  /** deadlock_detected */
  '40P01': RETRY,
  /** duplicate_table */
  '42P07': { means: 'foreign' },
  /** insufficient_resources: disk, memory or connections. */
  '53*': UNAVAILABLE,
  '53300': { means: 'unavailable', words: 'has no connection left' },
  /** lock_not_available */
  '55P03': { means: 'locked' },
  /** query_canceled */
  '57014': RETRY,
  /** admin_shutdown */
  '57P01': UNAVAILABLE,
  /** crash_shutdown */
  '57P02': UNAVAILABLE,
  '57P03': { means: 'unavailable', words: 'is starting or stopping' },
  /** database_dropped */
  '57P04': UNAVAILABLE,
  /** idle_session_timeout */
  '57P05': UNAVAILABLE,
  /** system_error */
  '58*': UNAVAILABLE,

  // The system and Node.js
  EADDRNOTAVAIL: UNAVAILABLE,
  'EAI_*': UNAVAILABLE,
  EAI_AGAIN: { means: 'unavailable', words: 'cannot be looked up' },
  ECONNABORTED: UNAVAILABLE,
  ECONNREFUSED: { means: 'unavailable', words: 'refuses connections' },
  ECONNRESET: UNAVAILABLE,
  EHOSTDOWN: UNAVAILABLE,
  EHOSTUNREACH: UNAVAILABLE,
  ENETDOWN: UNAVAILABLE,
  ENETRESET: UNAVAILABLE,
  ENETUNREACH: UNAVAILABLE,
  ENOENT: { means: 'unavailable', words: 'has no socket there' },
  ENOTFOUND: { means: 'unavailable', words: 'has no address' },
  EPIPE: UNAVAILABLE,
  EPROTO: ABOUT_TLS,
  'ERR_SSL_*': ABOUT_TLS,
  'ERR_STREAM_*': UNAVAILABLE,
  'ERR_TLS_*': ABOUT_TLS,
  ETIMEDOUT: UNAVAILABLE,

  // The driver
  'Client has encountered a connection error and is not queryable': UNAVAILABLE,
  'Client was closed and is not queryable': UNAVAILABLE,
  'Connection terminated': UNAVAILABLE,
  'Connection terminated unexpectedly': UNAVAILABLE,
  'The server does not support SSL connections': ABOUT_TLS,
  'There was an error establishing an SSL connection': ABOUT_TLS,
};

const CLASSES = Object.entries(ERRORS).flatMap(([key, known]) =>
  key.endsWith('*') ? [{ begin: key.slice(0, -1), known }] : [],
);

function knownError(error: unknown): KnownError | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = codeOf(error);
  if (code === '') return ERRORS[error.message];
  return ERRORS[code] ?? CLASSES.find(({ begin }) => code.startsWith(begin))?.known;
}

export function meaningOf(error: unknown): ErrorMeaning {
  if (error instanceof StoreUnavailable) return 'unavailable';
  return knownError(error)?.means ?? 'broken';
}

export function isUnavailable(error: unknown): boolean {
  return meaningOf(error) === 'unavailable';
}

/** Whether Citus reports that it cannot reach a worker. The connection to the coordinator itself is sound. */
export function isAboutWorker(error: unknown): boolean {
  return error instanceof DatabaseError && error.severity === 'ERROR' && codeOf(error).startsWith('08');
}

const TEMPORARY: ReadonlySet<ErrorMeaning> = new Set(['unavailable', 'retry', 'locked']);

/** Whether the same statements may succeed later. */
export function isTemporary(error: unknown): boolean {
  return TEMPORARY.has(meaningOf(error));
}

/** Layers above the store do not know SQLSTATE, so they get `StoreUnavailable`. A broken statement stays as it is. */
export function unavailableInstead(error: unknown): unknown {
  if (error instanceof StoreUnavailable || !isTemporary(error)) return error;
  return new StoreUnavailable(`PostgreSQL: ${messageOf(error)}.`, { cause: error });
}

/** Why a server cannot be used, as the end of a sentence that begins with its host. */
export function wordsOf(error: unknown): string {
  return knownError(error)?.words ?? `fails: ${messageOf(error)}`;
}

/** Whether a connection without TLS may succeed where this one failed. */
export function isAboutTls(error: unknown): boolean {
  return knownError(error)?.isAboutTls === true;
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
  if (lost !== undefined && isUnavailable(lost.reason)) throw lost.reason;
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
