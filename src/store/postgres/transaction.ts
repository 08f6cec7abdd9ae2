/**
 * Runs statements as one transaction that is sent at once. The first that fails undoes all of them. Their results
 * are not read: the answer is that all of them ran.
 *
 * In a session with a transaction timeout (`transaction-timeouts.ts`) they form one pipeline with a single Sync
 * message: the server commits at the Sync and answers once. While the server waits for the rest of a pipeline, the
 * session does not count as idle. Only the age of the transaction ends it then. Other sessions therefore use BEGIN
 * and COMMIT, and every statement is answered.
 */
import { type Client, type Connection, Query } from 'pg';
import { StoreUnavailable } from '#src/ports/store.ts';
import { awaitAll } from './errors.ts';
import { BEGIN, setSessionTimeouts } from './transaction-timeouts.ts';

export interface TransactionStatement {
  readonly sql: string;
  /** The name under which the server keeps the statement; '' if it does not. */
  readonly name: string;
  readonly values: (string | Buffer | null)[];
}

const STATEMENT = 'S';
const IDLE = 'I';

/** Sessions that may pipeline, with the names of the statements that their server keeps from pipelines. */
const pipeliningSessions = new WeakMap<Client, Set<string>>();

/** Transactions of an unshared session may be pipelined, if the server can limit their time. */
export async function allowPipelining(client: Client): Promise<void> {
  if (await setSessionTimeouts(client)) pipeliningSessions.set(client, new Set());
}

export async function runTransaction(
  client: Client,
  statements: readonly TransactionStatement[],
): Promise<void> {
  const prepared = pipeliningSessions.get(client);
  await (prepared === undefined
    ? runWithBeginAndCommit(client, statements)
    : runPipelined(client, statements, prepared));
  if (client.getTransactionStatus() !== IDLE) {
    throw new StoreUnavailable('PostgreSQL answered, but the transaction has not ended.');
  }
}

async function runWithBeginAndCommit(
  client: Client,
  statements: readonly TransactionStatement[],
): Promise<void> {
  await awaitAll(
    corked(client.connection, () => [
      client.query(BEGIN),
      ...statements.map(({ sql, name, values }) =>
        client.query(name === '' ? { text: sql, values } : { name, text: sql, values }),
      ),
      client.query('COMMIT'),
    ]),
  );
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
      for (const { name } of statements) prepared.delete(name);
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
          for (const one of statements) write(connection, one, prepared);
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

function write(
  connection: Connection,
  { sql, name, values }: TransactionStatement,
  prepared: Set<string>,
): void {
  // The driver tracks the names of its own prepared statements, so these have other names.
  const statement = name === '' ? '' : `${name}_part`;
  if (!prepared.has(name)) {
    // The server may have the statement already, if a later one failed.
    if (name !== '') connection.close({ type: STATEMENT, name: statement }, true);
    connection.parse({ name: statement, text: sql, types: [] }, true);
    if (name !== '') prepared.add(name);
  }
  connection.bind({ statement, values }, true);
  connection.execute(null, true);
}

/** Everything written inside is sent together. */
function corked<T>({ stream }: Connection, write: () => T): T {
  stream.cork();
  try {
    return write();
  } finally {
    stream.uncork();
  }
}
