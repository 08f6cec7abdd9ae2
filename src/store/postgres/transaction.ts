/**
 * Statements that are carried out as one transaction, written at once. The first that fails undoes them all. Nobody
 * reads what they return: that all of them were carried out is the answer.
 *
 * In a session that is bound by the rules of `bounds.ts` they are one piece: the server commits where it ends, and
 * answers once. While the server waits for the rest of a piece, it does not count as idle: only the age of the
 * transaction ends it when the rest never comes. So elsewhere the transaction has a beginning and an end of its
 * own, and every statement is answered.
 */
import { type Client, type Connection, Query } from 'pg';
import { StoreUnavailable } from '#src/ports/store.ts';
import { awaitAll } from './faults.ts';
import { BEGIN, setSessionTimeouts } from './transaction-timeouts.ts';

export interface TransactionStatement {
  readonly sql: string;
  /** Under which the server keeps the statement; '' when it is not to be kept. */
  readonly name: string;
  readonly values: (string | Buffer | null)[];
}

const STATEMENT = 'S';
const IDLE = 'I';

/** Of every session that is bound, the names that its server knows from pieces. */
const bound = new WeakMap<Client, Set<string>>();

/** For a session that is nobody else's: its transactions may be one piece, if the server can bound them. */
export async function allowPipelining(client: Client): Promise<void> {
  if (await setSessionTimeouts(client)) bound.set(client, new Set());
}

export async function runTransaction(client: Client, parts: readonly TransactionStatement[]): Promise<void> {
  const kept = bound.get(client);
  await (kept === undefined ? runWithBeginAndCommit(client, parts) : runPipelined(client, parts, kept));
  if (client.getTransactionStatus() !== IDLE) {
    throw new StoreUnavailable('PostgreSQL answered, and the transaction has not ended.');
  }
}

async function runWithBeginAndCommit(client: Client, parts: readonly TransactionStatement[]): Promise<void> {
  await awaitAll(
    corked(client.connection, () => [
      client.query(BEGIN),
      ...parts.map(({ sql, name, values }) =>
        client.query(name === '' ? { text: sql, values } : { name, text: sql, values }),
      ),
      client.query('COMMIT'),
    ]),
  );
}

async function runPipelined(
  client: Client,
  parts: readonly TransactionStatement[],
  kept: Set<string>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  client.query(
    new PipelinedTransaction(parts, kept, (error) => {
      if (error === null || error === undefined) return resolve();
      // Those behind the one that failed may not have been made.
      for (const { name } of parts) kept.delete(name);
      reject(error);
    }),
  );
  await promise;
}

class PipelinedTransaction extends Query {
  constructor(
    parts: readonly TransactionStatement[],
    kept: Set<string>,
    done: (error: Error | null | undefined) => void,
  ) {
    super('', done);
    this.submit = (connection) => {
      try {
        corked(connection, () => {
          for (const part of parts) write(connection, part, kept);
          connection.sync();
        });
      } catch (error) {
        // A piece without its end would become the beginning of the next one.
        connection.stream.destroy();
        return error;
      }
      return undefined;
    };
  }

  handleDataRow(): void {}

  handleCommandComplete(): void {}
}

function write(connection: Connection, { sql, name, values }: TransactionStatement, kept: Set<string>): void {
  // The driver has an account of its own of what it has left with the server.
  const statement = name === '' ? '' : `${name}_part`;
  if (!kept.has(name)) {
    // It may be there all the same, if something failed after it was made.
    if (name !== '') connection.close({ type: STATEMENT, name: statement }, true);
    connection.parse({ name: statement, text: sql, types: [] }, true);
    if (name !== '') kept.add(name);
  }
  connection.bind({ statement, values }, true);
  connection.execute(null, true);
}

/** All that is written meanwhile goes out together. */
function corked<T>({ stream }: Connection, write: () => T): T {
  stream.cork();
  try {
    return write();
  } finally {
    stream.uncork();
  }
}
