/** Runs queries on a connection. Each statement is prepared once, and a snapshot reads several of one moment. */
import type Database from 'better-sqlite3';
import type { Parameter, SqlRunner } from '#src/store/sql/steps.ts';
import type { Db } from './connection.ts';
import { forSqlite } from './statement-builders.ts';
import type { WriteQueue } from './writer.ts';

type Statement = Database.Statement<unknown[]>;

export class PreparedQueries {
  readonly #db: Db;
  readonly #statements = new Map<string, Statement>();

  constructor(db: Db) {
    this.#db = db;
  }

  get<Row>(sql: string, ...parameters: readonly Parameter[]): Row | undefined {
    return this.#prepared(sql).get(...parameters) as Row | undefined;
  }

  all<Row>(sql: string, ...parameters: readonly Parameter[]): readonly Row[] {
    return this.#prepared(sql).all(...parameters) as Row[];
  }

  #prepared(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare<unknown[]>(sql);
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

export function sqlRunner(
  read: <T>(query: (queries: PreparedQueries) => T) => Promise<T>,
  writer: Pick<WriteQueue, 'run'>,
): SqlRunner {
  const query: SqlRunner['query'] = (sql, ...values) =>
    read((queries) => queries.all(forSqlite(sql), ...values));
  return { query, lookUp: query, run: (steps) => writer.run(steps) };
}
