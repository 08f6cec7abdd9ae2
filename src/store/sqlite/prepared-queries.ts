/** Runs queries on a connection. Each statement is prepared once, and a snapshot reads several of one moment. */
import type Database from 'better-sqlite3';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { SqlReader } from '#src/store/sql/dialect.ts';
import type { Values } from '#src/store/sql/mapping.ts';
import type { QueryParameter } from '#src/store/sql/query.ts';
import type { Db } from './connection.ts';
import { unavailableInstead } from './errors.ts';
import { forSqlite } from './statement-builders.ts';

type Statement = Database.Statement<unknown[]>;

export class PreparedQueries {
  readonly #db: Db;
  readonly #statements = new Map<string, Statement>();
  /** The statements that find values instead of objects. */
  readonly #valuesOf = new Map<string, Statement>();

  constructor(db: Db) {
    this.#db = db;
  }

  get<Row>(sql: string, ...parameters: readonly QueryParameter[]): Row | undefined {
    return this.#prepared(sql).get(...parameters) as Row | undefined;
  }

  all<Row>(sql: string, ...parameters: readonly QueryParameter[]): readonly Row[] {
    return this.#prepared(sql).all(...parameters) as Row[];
  }

  /** Finds the values of one row, in the order of its columns. An object with many columns would cost twice as much. */
  values(sql: string, ...parameters: readonly QueryParameter[]): Values | undefined {
    const known = this.#valuesOf.get(sql);
    const statement = known ?? this.#db.prepare<unknown[]>(forSqlite(sql)).raw(true);
    if (known === undefined) this.#valuesOf.set(sql, statement);
    return statement.get(...parameters) as Values | undefined;
  }

  #prepared(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare<unknown[]>(forSqlite(sql));
    this.#statements.set(sql, statement);
    return statement;
  }

  /** All queries inside see the data of one moment. A nested snapshot is part of the outer one. */
  inSnapshot<T>(read: () => T): T {
    if (this.#db.inTransaction) return read();
    this.#prepared('BEGIN').run();
    try {
      return read();
    } finally {
      this.#prepared('COMMIT').run();
    }
  }
}

/** SQLite answers at once. Readers are asynchronous because other databases are. */
export class SqliteReader implements SqlReader {
  readonly #db: Db;
  readonly #queries: PreparedQueries;

  constructor(db: Db) {
    this.#db = db;
    this.#queries = new PreparedQueries(db);
  }

  query<Row>(sql: string, ...parameters: readonly QueryParameter[]): Promise<readonly Row[]> {
    return this.read(() => this.#queries.all<Row>(sql, ...parameters));
  }

  lookUp<Row>(sql: string, ...parameters: readonly QueryParameter[]): Promise<readonly Row[]> {
    return this.query(sql, ...parameters);
  }

  /** Runs a read of several statements. */
  async read<T>(run: () => T): Promise<T> {
    if (!this.#db.open) throw new StoreUnavailable('The store is closed.');
    return unavailableInstead(run);
  }
}
