/**
 * Look-ups whose rows are lists of values.
 *
 * The driver asks for a description of the columns with every query, and makes an object of their names. For a wide
 * row this takes longer than reading a few rows. Here only the first run on a connection asks for it, because the
 * columns of a statement never change.
 */
import { type Client, Query } from 'pg';
import type { Values } from '#src/store/sql/mapping.ts';
import { bind, corked, type TransactionStatement } from './transaction.ts';

type Parser = (text: string) => Values[number];

interface Session {
  /** Names of the statements that the server keeps. */
  readonly prepared: Set<string>;
  /** The parser of each column, by the text of the statement. */
  readonly parsers: Map<string, readonly Parser[]>;
}

interface RowDescription {
  readonly fields: readonly { readonly dataTypeID: number }[];
}

const PORTAL = 'P';

const sessions = new WeakMap<Client, Session>();

export function lookUpValues(client: Client, statement: TransactionStatement): Promise<readonly Values[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Values[]>();
  const session = sessions.get(client) ?? { prepared: new Set(), parsers: new Map() };
  sessions.set(client, session);
  const query = new LookUp(client, statement, session, (error) => {
    const failure = error ?? query.failure;
    if (failure === null) return resolve(query.found);
    // The server may not have prepared the statement.
    session.prepared.delete(statement.name ?? '');
    reject(failure);
  });
  client.query(query);
  return promise;
}

class LookUp extends Query {
  readonly found: Values[] = [];
  /** Why a value could not be read. */
  failure: Error | null = null;
  readonly #client: Client;
  readonly #text: string;
  readonly #session: Session;
  #parsers: readonly Parser[] = [];

  constructor(
    client: Client,
    statement: TransactionStatement,
    session: Session,
    done: (error: Error | null | undefined) => void,
  ) {
    super('', done);
    this.#client = client;
    this.#text = statement.text;
    this.#session = session;
    this.submit = (connection) => {
      const parsers = session.parsers.get(statement.text);
      this.#parsers = parsers ?? [];
      try {
        corked(connection, () => {
          bind(connection, statement, session.prepared);
          if (parsers === undefined) connection.describe({ type: PORTAL, name: '' }, true);
          connection.execute(null, true);
          connection.sync();
        });
      } catch (error) {
        // Without its Sync, this query would become the beginning of the next one.
        connection.stream.destroy();
        return error;
      }
      return undefined;
    };
  }

  handleRowDescription({ fields }: RowDescription): void {
    this.#parsers = fields.map(({ dataTypeID }) => this.#client.getTypeParser(dataTypeID, 'text') as Parser);
    this.#session.parsers.set(this.#text, this.#parsers);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    try {
      this.found.push(
        fields.map((text, column) => (text === null ? null : (this.#parsers[column]?.(text) ?? null))),
      );
    } catch (error) {
      this.failure = error as Error;
    }
  }

  handleCommandComplete(): void {}
}
