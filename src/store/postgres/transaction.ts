/**
 * Runs statements as one transaction that is sent at once. The first that fails undoes all of them. Their results
 * are not read: the answer is that all of them ran.
 *
 * A transaction has its own isolation, and limits how long it holds locks, whatever the defaults of the server are. A
 * node that is cut off during a transaction cannot end it, so the server has to. PostgreSQL 17 has a limit for whole
 * transactions, which is set once for the session, with the other settings. Then the statements form one pipeline
 * with a single Sync message: the server commits at the Sync and answers once. While the server waits for the rest of
 * a pipeline, the session does not count as idle, and only the age of the transaction ends it.
 *
 * An older server only ends transactions that are idle, and a session behind a pooler is shared. There every
 * transaction uses BEGIN with the limits and COMMIT, and every statement is answered.
 */
import { type Client, type Connection, Query } from 'pg';
import { StoreUnavailable } from '#src/ports/store.ts';
import { awaitAll } from './errors.ts';

/** A statement in the form that the driver takes. The server keeps a statement that has a name. */
export interface TransactionStatement {
  readonly text: string;
  readonly name?: string;
  readonly values: (string | Buffer | null)[];
}

/** A transaction that waits longer for a lock would delay all those behind it. */
const LOCK_MS_MAX = 3_000;
/** A node that stops during a transaction must not hold its locks for long. */
const IDLE_MS_MAX = 5_000;
const TRANSACTION_MS_MAX = 10_000;

export const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
  SET LOCAL lock_timeout = ${LOCK_MS_MAX};
  SET LOCAL statement_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS_MAX}`;

const SESSION_SETTINGS = {
  transaction_timeout: TRANSACTION_MS_MAX,
  lock_timeout: LOCK_MS_MAX,
  statement_timeout: 0,
  idle_in_transaction_session_timeout: IDLE_MS_MAX,
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
};
/** Returns a row if the server has such a timeout; otherwise it sets nothing. */
const SET_FOR_SESSION = `SELECT ${Object.entries(SESSION_SETTINGS)
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(', ')} WHERE current_setting('transaction_timeout', true) IS NOT NULL`;

const STATEMENT = 'S';
const IDLE = 'I';

/** Sessions that may pipeline, with the names of the statements that their server keeps from pipelines. */
const pipeliningSessions = new WeakMap<Client, Set<string>>();

/** Transactions of an unshared session may be pipelined, if the server can limit their time. */
export async function allowPipelining(client: Client): Promise<void> {
  const { rowCount } = await client.query(SET_FOR_SESSION);
  if (rowCount === 1) pipeliningSessions.set(client, new Set());
}

export async function runTransaction(
  client: Client,
  statements: readonly TransactionStatement[],
): Promise<void> {
  const prepared = pipeliningSessions.get(client);
  if (prepared !== undefined) await runPipelined(client, statements, prepared);
  else {
    const all = [{ text: BEGIN }, ...statements, { text: 'COMMIT' }];
    await awaitAll(corked(client.connection, () => all.map((one) => client.query(one))));
  }
  if (client.getTransactionStatus() !== IDLE) {
    throw new StoreUnavailable('PostgreSQL answered, but the transaction has not ended.');
  }
}

async function runPipelined(
  client: Client,
  statements: readonly TransactionStatement[],
  prepared: Set<string>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  client.query(
    new PipelinedTransaction(statements, prepared, (error) => {
      if (error === null || error === undefined) return resolve();
      // The server may not have prepared the statements after the one that failed.
      for (const { name = '' } of statements) prepared.delete(name);
      reject(error);
    }),
  );
  await promise;
}

class PipelinedTransaction extends Query {
  constructor(
    statements: readonly TransactionStatement[],
    prepared: Set<string>,
    done: (error: Error | null | undefined) => void,
  ) {
    super('', done);
    this.submit = (connection) => {
      try {
        corked(connection, () => {
          for (const one of statements) {
            bind(connection, one, prepared);
            connection.execute(null, true);
          }
          connection.sync();
        });
      } catch (error) {
        // Without its Sync, this pipeline would become the beginning of the next one.
        connection.stream.destroy();
        return error;
      }
      return undefined;
    };
  }

  handleDataRow(): void {}

  handleCommandComplete(): void {}
}

/** Binds the values of a statement, which the server first prepares if it is not among `prepared`. */
export function bind(
  connection: Connection,
  { text, name = '', values }: TransactionStatement,
  prepared: Set<string>,
): void {
  // The driver tracks the names of its own prepared statements, so these have other names.
  const statement = name === '' ? '' : `${name}_part`;
  if (!prepared.has(name)) {
    // The server may have the statement already, if a later one failed.
    if (name !== '') connection.close({ type: STATEMENT, name: statement }, true);
    connection.parse({ name: statement, text, types: [] }, true);
    if (name !== '') prepared.add(name);
  }
  connection.bind({ statement, values }, true);
}

/** Everything written inside is sent together. */
export function corked<T>({ stream }: Connection, write: () => T): T {
  stream.cork();
  try {
    return write();
  } finally {
    stream.uncork();
  }
}
