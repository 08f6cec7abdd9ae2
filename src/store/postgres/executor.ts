/**
 * Runs verbs in one transaction, on a connection that nothing else writes to.
 *
 * Usually every step holds. Then one round trip is enough: the whole transaction is sent at once. Each statement
 * fails unless it held for every row, and a failure undoes the transaction. Only after such a failure are statements
 * sent stage by stage, to find the verbs whose steps did not hold. Those verbs get their rejection, and the others
 * run without them.
 *
 * If a commit fails or its answer is lost, its outcome is looked up. Every transaction writes its number into the row of
 * its writer. The look-up locks that row, so it waits for a transaction that holds it. It also raises the number, so
 * that a transaction that comes later fails. What it finds is therefore final.
 */
import type { QueryResult } from 'pg';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { type Clock, pause, type Stopwatch, type Timers } from '#src/ports/system.ts';
import type { StatementName } from '#src/store/sql/hot-statements.ts';
import type { Rejection, Step } from '#src/store/sql/steps.ts';
import { columnsOf } from './array-rows.ts';
import { awaitAll, isTemporary, isUnavailable, meaningOf, messageOf } from './errors.ts';
import { arrayTypesOf, type SqlValue } from './parameter-encoding.ts';
import type { ReconnectingClient, TransactionQuery } from './reconnecting-client.ts';
import {
  type Group,
  planStages,
  type Row,
  rowKey,
  type Stage,
  type Statements,
  type Verb,
} from './stages.ts';
import type { Statement } from './statement-builders.ts';
import { BEGIN } from './transaction.ts';
import type { NumberRow } from './transaction-numbers.ts';

export type Answer = 'done' | Rejection | Error;

export interface ExecutorDependencies {
  readonly client: ReconnectingClient;
  readonly clock: Clock;
  readonly timers: Timers & Stopwatch;
  /** The row for the number of a transaction that is about this partition, or about none. */
  readonly numberRow: (partition: Partition | null) => NumberRow;
  /** A number greater than all before. The connections of one writer share these numbers. */
  readonly nextNumber: () => number;
  readonly statements: Statements;
  /** Whether a transaction with all its checks can be sent at once. */
  readonly checksAtOnce: boolean;
}

/** The database is not available, and COMMIT was not sent. */
class NotCommitted extends StoreUnavailable {}

/** How long the outcome of a lost commit is looked up before the executor gives up. */
const LOOK_UP_MS_MAX = 5_000;
const LOOK_UP_PAUSE_MS = 250;
const ATTEMPTS_MAX = 5;
const TOO_MANY_CONFLICTS = 'PostgreSQL: too many transactions write the same rows at once.';

/** The verbs with a step that does not hold. If there are none, the transaction was committed. */
type Rejections = ReadonlyMap<Verb, Rejection>;

export class Executor {
  readonly #dependencies: ExecutorDependencies;

  constructor(dependencies: ExecutorDependencies) {
    this.#dependencies = dependencies;
  }

  get isConnected(): boolean {
    return this.#dependencies.client.isConnected;
  }

  /**
   * Runs the first verbs of the batch, as many as can share a transaction, and returns an answer for each of them.
   * Rejects if the database is not available; then it is not known what is stored. `partition`: if the verbs must be
   * of one partition, this is it.
   */
  async run(batch: readonly Verb[], partition: Partition | null = null): Promise<readonly Answer[]> {
    const { statements, checksAtOnce } = this.#dependencies;
    let { count, stages } = planStages(batch, statements);
    const verbs = batch.slice(0, count);
    const rejections = new Map<Verb, Rejection>();
    let isStageByStage = !checksAtOnce;
    for (let attempts = 0; attempts < ATTEMPTS_MAX; ) {
      const outcome = await this.#attempt(stages, partition, isStageByStage);
      if (outcome instanceof Error) {
        // One of the verbs cannot run. Without it, the others can.
        if (verbs.length === 1) return [outcome];
        return this.run(verbs.slice(0, Math.ceil(verbs.length / 2)), partition);
      }
      if (outcome === 'retry' || outcome === 'not_held') {
        attempts++;
        isStageByStage ||= outcome === 'not_held';
        continue;
      }
      for (const [verb, rejection] of outcome) rejections.set(verb, rejection);
      const pending = verbs.filter((verb) => !rejections.has(verb));
      if (outcome.size === 0 || pending.length === 0)
        return verbs.map((verb) => rejections.get(verb) ?? 'done');
      ({ stages } = planStages(pending, statements));
    }
    return verbs.map((verb) => rejections.get(verb) ?? new StoreUnavailable(TOO_MANY_CONFLICTS));
  }

  /**
   * Runs these statements for no rows. The first use of a statement on a connection takes the server milliseconds. Now
   * it does not fall into the first claim of a new process.
   */
  async warmUp(names: readonly StatementName[]): Promise<void> {
    const { client, statements } = this.#dependencies;
    const stage = names.map((name) => ({ statement: statements[name], rows: [] }));
    await client.transaction(stage.map(checkedStatement));
  }

  async #attempt(
    stages: readonly Stage[],
    partition: Partition | null,
    isStageByStage: boolean,
  ): Promise<Rejections | 'not_held' | 'retry' | Error> {
    // Nothing was sent yet, so there is nothing to look up.
    if (!this.isConnected) throw new StoreUnavailable('PostgreSQL cannot be reached.');
    const number = this.#dependencies.nextNumber();
    const row = this.#dependencies.numberRow(partition);
    try {
      if (isStageByStage) return await this.#runStageByStage(stages, row, number);
      await this.#dependencies.client.transaction([
        { sql: row.storeOrFail, parameters: this.#numberParameters(row, number), isPrepared: true },
        ...stages.flat().map(checkedStatement),
      ]);
      return new Map();
    } catch (error) {
      if (error instanceof NotCommitted) return this.#waitToRetry(error);
      switch (meaningOf(error)) {
        case 'retry':
        case 'locked':
          return 'retry';
        case 'not_held':
          return 'not_held';
        case 'unavailable':
          return (await this.#wasCommitted(row, number)) ? new Map() : 'retry';
        case 'foreign':
        case 'broken':
          return broken(error);
      }
    }
  }

  async #runStageByStage(
    stages: readonly Stage[],
    row: NumberRow,
    number: number,
  ): Promise<Rejections | 'not_held'> {
    const { client } = this.#dependencies;
    const begun = client.send(BEGIN);
    const stored = client.send(row.store, this.#numberParameters(row, number));
    const sent = [begun, stored];
    const failed = new Map<Verb, Set<Step>>();
    try {
      for (const stage of stages) {
        const { guards = [], rest = [] } = Object.groupBy(stage, ({ statement }) =>
          statement.holds === 'always' ? 'rest' : 'guards',
        );
        const checks = guards.map((group) => this.#send(group));
        await awaitAll([...sent, ...checks]);
        for (const [index, group] of guards.entries()) {
          for (const { verb, step } of rowsNotHeld(group, (await checks[index])?.rows ?? [])) {
            failed.set(verb, (failed.get(verb) ?? new Set()).add(step));
          }
        }
        if (failed.size > 0) break;
        sent.push(...rest.map((group) => this.#send(group)));
      }
      await awaitAll(sent);
    } catch (error) {
      await Promise.allSettled(sent);
      if (client.isConnected) await client.send('ROLLBACK');
      throw isUnavailable(error) ? new NotCommitted(messageOf(error), { cause: error }) : error;
    }
    const isDelayed = (await stored).rows.length === 0;
    await (isDelayed || failed.size > 0 ? client.send('ROLLBACK') : client.commit());
    if (isDelayed) return 'not_held';
    return new Map([...failed].map(([verb, steps]) => [verb, firstOf(verb, steps)]));
  }

  /**
   * A connection that was lost is waited for. If there is one, Citus cannot reach a worker: the verbs of other workers
   * need the connection.
   */
  async #waitToRetry(error: NotCommitted): Promise<'retry'> {
    const { client } = this.#dependencies;
    if (client.isConnected || !(await client.waitUntilConnected(LOOK_UP_MS_MAX))) throw error;
    return 'retry';
  }

  #numberParameters({ parameters }: NumberRow, number: number): readonly SqlValue[] {
    return [...parameters, number, this.#dependencies.clock.now()];
  }

  #send({ statement, rows }: Group): Promise<QueryResult> {
    const { sql, parameters } = statement.queryFor?.(rows.map((row) => row.parameters)) ?? {
      sql: statement.sql,
      parameters: parametersOf(statement, rows),
    };
    return this.#dependencies.client.send(sql, parameters, { isPrepared: statement.scans === undefined });
  }

  /** Whether the transaction with this number was committed. If not, it never will be. */
  async #wasCommitted(row: NumberRow, number: number): Promise<boolean> {
    const { client, timers } = this.#dependencies;
    const until = timers.elapsed() + LOOK_UP_MS_MAX;
    for (;;) {
      if (await client.waitUntilConnected(Math.max(until - timers.elapsed(), 0))) {
        try {
          const { rows } = await client.sendIn(BEGIN, row.raise, this.#numberParameters(row, number + 1));
          return (rows as readonly { readonly last: number }[])[0]?.last === number;
        } catch (error) {
          if (!isTemporary(error)) throw broken(error);
        }
      }
      if (timers.elapsed() >= until)
        throw new StoreUnavailable(
          'PostgreSQL: the answer to a commit was lost, and the outcome could not be looked up in time.',
        );
      await pause(timers, LOOK_UP_PAUSE_MS);
    }
  }
}

/** The rejection of the verb's first step that did not hold. */
function firstOf(verb: Verb, failed: ReadonlySet<Step>): Rejection {
  return verb.find((step) => failed.has(step))?.[1] ?? 'stale';
}

/** The statement of a group. It fails, and the transaction with it, unless it held for every row. */
function checkedStatement({ statement, rows: all }: Group): TransactionQuery {
  const { sql, holds, access, scans } = statement;
  const isPrepared = scans === undefined;
  const rows = access === 'read' ? distinct(all) : all;
  const parameters = parametersOf(statement, rows);
  if (holds === 'always') return { sql, parameters, isPrepared };
  const expected = holds === 'one_row' ? rows.length : 0;
  return { sql: withCheck(sql, parameters.length), parameters: [...parameters, expected], isPrepared };
}

/** Many verbs may check the same row, such as their slot. Rows are in the order of their keys. */
function distinct(rows: readonly Row[]): readonly Row[] {
  return rows.filter(({ parameters }, index) => {
    const before = rows[index - 1]?.parameters;
    return before === undefined || parameters.some((value, position) => value !== before[position]);
  });
}

/**
 * Keyed by statement, because a statement always has the same number of parameters. Reusing the text avoids hashing
 * a new string each time.
 */
const checkedTexts = new Map<string, string>();

/** Divides by zero unless the statement returns as many rows as expected. */
function withCheck(sql: string, parameters: number): string {
  const known = checkedTexts.get(sql);
  if (known !== undefined) return known;
  const made = `WITH held AS (${sql}) SELECT 1 / (count(*) = $${parameters + 1}::integer)::integer FROM held`;
  checkedTexts.set(sql, made);
  return made;
}

/** An array for each column. A shared statement takes the values of its only row. */
function parametersOf({ isShared, sql }: Statement, rows: readonly Row[]): readonly SqlValue[] {
  if (isShared === true) return rows[0]?.parameters ?? [];
  if (rows.length === 0) return arrayTypesOf(sql).map(() => []);
  return columnsOf(rows.map(({ parameters }) => parameters));
}

/** The rows for which the statement did not hold. */
function rowsNotHeld({ statement, rows }: Group, found: readonly object[]): readonly Row[] {
  const { holds, isShared, key, match = key } = statement;
  const isHeldIfFound = holds === 'one_row';
  if (isShared === true) return found.length > 0 === isHeldIfFound ? [] : rows;
  const keys = new Set(
    found.map((row) => {
      const values = Object.values(row);
      return rowKey(values, [...values.keys()]);
    }),
  );
  return rows.filter(({ parameters }) => keys.has(rowKey(parameters, match)) !== isHeldIfFound);
}

function broken(error: unknown): Error {
  return new Error(`A store verb failed: ${messageOf(error)}.`, { cause: error });
}
