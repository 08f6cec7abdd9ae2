/**
 * Runs verbs on the writing connection. The verbs of a batch share one transaction and one fsync, and are answered
 * together after the commit.
 *
 * A verb takes effect completely or not at all. As long as every step holds, this needs no help. When a verb must be
 * undone, the whole transaction is rolled back, and the batch runs again with a savepoint around each verb.
 * Savepoints cost as much as the verbs themselves, and they are almost never needed.
 */

import type { StatementName } from '#src/store/sql/hot-statements.ts';
import type { Statement } from '#src/store/sql/statements.ts';
import type { Parameter, Rejection, Step } from '#src/store/sql/steps.ts';
import { type Db, openForWriting } from './connection.ts';
import { type Failure, failureOf, isUnavailable } from './errors.ts';
import { forSqlite } from './statement-builders.ts';
import { type DiskCheckStatementName, STATEMENTS } from './statements.ts';

export type SqliteStep = Step<StatementName | DiskCheckStatementName>;
export type Batch = readonly (readonly SqliteStep[])[];

/** If the disk or the file is at fault, nothing of the batch was stored. */
export type Answer = 'done' | Rejection | Failure;

export interface WriterData {
  readonly path: string;
  readonly maxPages: number | null;
  readonly durable: boolean;
}

interface PreparedStatement {
  /** Whether the statement held. */
  readonly run: (parameters: readonly Parameter[]) => boolean;
  readonly isWrite: boolean;
}

/** The number of rows that a statement changes or finds if it holds; null for any number. */
const ROWS_IF_HELD = { always: null, one_row: 1, no_row: 0 } as const;

type Prepared = Readonly<Record<StatementName | DiskCheckStatementName, PreparedStatement>>;

export class Executor {
  readonly #db: Db;
  readonly #statements: Prepared;

  private constructor(db: Db) {
    this.#db = db;
    const prepared = Object.entries(STATEMENTS).map(([name, statement]) => [name, prepare(db, statement)]);
    this.#statements = Object.fromEntries(prepared) as Prepared;
  }

  static open({ path, maxPages, durable }: WriterData): Executor {
    const db = openForWriting(path, durable);
    if (maxPages !== null) db.pragma(`max_page_count = ${maxPages}`);
    return new Executor(db);
  }

  close(): void {
    this.#db.close();
  }

  run(batch: Batch): readonly Answer[] {
    try {
      return this.#transaction(() => batch.map((steps) => this.#steps(steps, false)));
    } catch (error) {
      if (isUnavailable(error)) return allFailed(batch, error);
    }
    try {
      return this.#transaction(() => batch.map((steps) => this.#undoable(steps)));
    } catch (error) {
      return allFailed(batch, error);
    }
  }

  #transaction<T>(act: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = act();
      this.#db.exec('COMMIT');
      return result;
    } finally {
      // After some errors, for example a full disk, SQLite has already rolled back.
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
    }
  }

  #undoable(steps: readonly SqliteStep[]): Answer {
    this.#db.exec('SAVEPOINT verb');
    try {
      const answer = this.#steps(steps, true);
      if (answer !== 'done') this.#db.exec('ROLLBACK TO verb');
      return answer;
    } catch (error) {
      if (isUnavailable(error) || !this.#db.inTransaction) throw error;
      this.#db.exec('ROLLBACK TO verb');
      return failureOf(error);
    } finally {
      if (this.#db.inTransaction) this.#db.exec('RELEASE verb');
    }
  }

  /** Returns `done`, or the rejection of the first step that does not hold. Throws if what it wrote must be undone. */
  #steps(steps: readonly SqliteStep[], canUndo: boolean): Answer {
    let hasWritten = false;
    for (const [name, otherwise, ...parameters] of steps) {
      const { run, isWrite } = this.#statements[name];
      if (!run(parameters)) {
        if (hasWritten && !canUndo) throw new Error('The verb must be undone.');
        return otherwise ?? failureOf(new Error(`${name} did not hold.`));
      }
      hasWritten ||= isWrite;
    }
    return 'done';
  }
}

function prepare(db: Db, { sql, holds }: Statement): PreparedStatement {
  const statement = db.prepare<unknown[]>(forSqlite(sql));
  const isWrite = !statement.reader;
  const rows = (parameters: readonly Parameter[]) =>
    isWrite ? statement.run(...parameters).changes : Number(statement.get(...parameters) !== undefined);
  const expected = ROWS_IF_HELD[holds];
  return {
    run: (parameters) => {
      const found = rows(parameters);
      return expected === null || found === expected;
    },
    isWrite,
  };
}

function allFailed(batch: Batch, error: unknown): readonly Answer[] {
  const failed = failureOf(error);
  return batch.map(() => failed);
}
