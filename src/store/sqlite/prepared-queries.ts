/** How questions are put to a connection: each statement is prepared once, and what belongs together is read at once. */
import type Database from 'better-sqlite3';
import type { Db } from './connection.ts';

type Statement = Database.Statement<unknown[]>;
export type Parameter = string | number | Uint8Array | null;

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

  /** Everything read inside is of one moment; inside another, of that one's. */
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

/** Parameters that are used once each and in their order, as SQLite takes them: `?` for `$1`. */
export function withQuestionMarks(sql: string): string {
  return sql.replaceAll(/\$\d+/g, '?');
}
