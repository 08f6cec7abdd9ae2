/**
 * Runs verbs in one transaction, on a connection that nothing else writes to.
 *
 * Usually every step holds. Then one round trip is enough: the whole transaction is sent at once. Each statement
 * fails unless it held for every row, and a failure undoes the transaction. Only after such a failure are statements
 * sent stage by stage, to find the verbs whose steps did not hold. Those verbs get their rejection, and the others
 * run without them.
 *
 * If the answer to a commit is lost, its outcome is looked up. Every transaction writes its number into the row of
 * its writer. The look-up locks that row, so it waits for a transaction that holds it. It also raises the number, so
 * that a transaction that comes later fails. What it finds is therefore final.
 */
import type { QueryResult } from 'pg';
import { StoreUnavailable } from '#src/ports/store.ts';
import { type Clock, pause, type Stopwatch, type Timers } from '#src/ports/system.ts';
import type { Rejection } from '#src/store/sql/steps.ts';
import { columnsOf } from './array-rows.ts';
import { awaitAll, isTemporary, meaningOf } from './errors.ts';
import type { SqlValue } from './parameter-encoding.ts';
import type { PlacedQuery } from './placement.ts';
import type { ReconnectingClient, TransactionQuery } from './reconnecting-client.ts';
import {
  type Group,
  planStages,
  rowKey,
  type Stage,
  type Statements,
  type Verb,
  valuesKey,
} from './stages.ts';
import type { Statement } from './statement-builders.ts';
import { BEGIN } from './transaction-timeouts.ts';

export type Answer = 'done' | Rejection | Error;

export interface ExecutorOptions {
  readonly client: ReconnectingClient;
  readonly clock: Clock;
  readonly timers: Timers & Stopwatch;
  /** The name of this connection among all that write. */
  readonly writer: string;
  readonly statements: Statements;
  /** Whether a transaction with all its checks can be sent at once. */
  readonly checksAtOnce: boolean;
}

/** Fails if the writer has already stored a higher number: then this transaction was delayed and given up. */
export const STORE_NUMBER = `WITH marked AS (
    INSERT INTO writers (writer, last, at) VALUES ($1, $2, $3)
    ON CONFLICT (writer) DO UPDATE SET last = excluded.last, at = excluded.at
    WHERE writers.last < excluded.last RETURNING 1)
  SELECT 1 / count(*) FROM marked`;
const INSERT_WRITER =
  'INSERT INTO writers (writer, last, at) VALUES ($1, 0, $2) ON CONFLICT (writer) DO NOTHING';
const LOCK_NUMBER = 'SELECT last FROM writers WHERE writer = $1 FOR UPDATE';
const RAISE_NUMBER = 'UPDATE writers SET last = $2 WHERE writer = $1';

/** How long the outcome of a lost commit is looked up before the executor gives up. */
const LOOK_UP_MS_MAX = 5_000;
const LOOK_UP_PAUSE_MS = 250;
const ATTEMPTS_MAX = 5;
const TOO_MANY_CONFLICTS = 'PostgreSQL: too many transactions write the same rows at once.';

export class Executor {
  readonly #client: ReconnectingClient;
  readonly #clock: Clock;
  readonly #timers: Timers & Stopwatch;
  readonly #writer: string;
  readonly #statements: Statements;
  readonly #checksAtOnce: boolean;
  #number = 0;

  constructor({ client, clock, timers, writer, statements, checksAtOnce }: ExecutorOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#timers = timers;
    this.#writer = writer;
    this.#statements = statements;
    this.#checksAtOnce = checksAtOnce;
  }

  /**
   * Runs the first verbs of the batch, as many as can share a transaction, and returns an answer for each of them.
   * Rejects if the database is not available; then it is not known what is stored.
   */
  async run(batch: readonly Verb[]): Promise<readonly Answer[]> {
    let { count, stages } = planStages(batch, this.#statements);
    const verbs = batch.slice(0, count);
    const answers: (Answer | null)[] = verbs.map(() => null);
    let isStageByStage = !this.#checksAtOnce;
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
      const pending = verbs.flatMap((verb, index) => (answers[index] === null ? [{ verb, index }] : []));
      if (pending.length === 0) break;
      const pendingVerbs = pending.map(({ verb }) => verb);
      if (pending.length < count) ({ count, stages } = planStages(pendingVerbs, this.#statements));
      const outcome = await this.#attempt(pendingVerbs, stages, isStageByStage);
      if (outcome === 'committed') for (const { index } of pending) answers[index] = 'done';
      else if (outcome === 'not_held') isStageByStage = true;
      else if (outcome instanceof Error) {
        if (verbs.length === 1) return [outcome];
        return this.#oneByOne(verbs, answers);
      } else if (outcome !== 'retry') {
        for (const [position, { index }] of pending.entries()) answers[index] = outcome.get(position) ?? null;
        // This attempt found out what does not hold, so it does not count as failed.
        attempts--;
      }
    }
    return answers.map((answer) => answer ?? new StoreUnavailable(TOO_MANY_CONFLICTS));
  }

  /** One of the verbs cannot run. Run alone, the others can. */
  async #oneByOne(verbs: readonly Verb[], known: readonly (Answer | null)[]): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    for (const [index, verb] of verbs.entries()) {
      const [answer] = known[index] === null ? await this.run([verb]) : [known[index]];
      answers.push(answer ?? 'done');
    }
    return answers;
  }

  async #attempt(
    verbs: readonly Verb[],
    stages: readonly Stage[],
    isStageByStage: boolean,
  ): Promise<'committed' | 'not_held' | 'retry' | Error | ReadonlyMap<number, Rejection>> {
    // Nothing was sent yet, so there is nothing to look up.
    if (!this.#client.isConnected) throw new StoreUnavailable('PostgreSQL cannot be reached.');
    this.#number += 2;
    const number = this.#number;
    try {
      return isStageByStage
        ? await this.#runStageByStage(verbs, stages, number)
        : await this.#runInOneRoundTrip(stages, number);
    } catch (error) {
      switch (meaningOf(error)) {
        case 'retry':
        case 'locked':
          return 'retry';
        case 'not_held':
          return 'not_held';
        case 'unavailable':
          return (await this.#wasCommitted(number)) ? 'committed' : 'retry';
        case 'foreign':
        case 'broken':
          return broken(error);
      }
    }
  }

  /** Commits if every step of every verb holds. */
  async #runInOneRoundTrip(stages: readonly Stage[], number: number): Promise<'committed'> {
    await this.#client.transaction([
      { sql: STORE_NUMBER, parameters: this.#numberParameters(number), isPrepared: true },
      ...stages.flat().map(checkedStatement),
    ]);
    return 'committed';
  }

  /** Returns the rejections of verbs with a step that does not hold; commits if there are none. */
  async #runStageByStage(
    verbs: readonly Verb[],
    stages: readonly Stage[],
    number: number,
  ): Promise<'committed' | ReadonlyMap<number, Rejection>> {
    const sent: Promise<QueryResult>[] = [this.#client.send(BEGIN), this.#storeNumber(number)];
    try {
      for (const stage of stages) {
        const guards = stage.filter(({ statement }) => statement.holds !== 'always');
        const checks = guards.map((group) => this.#sendAll(group));
        await awaitAll([...sent, ...checks.flat()]);
        const failed = new Map<number, Set<Group>>();
        for (const [index, group] of guards.entries()) {
          for (const verb of verbsNotHeld(group, await Promise.all(checks[index] ?? []))) {
            failed.set(verb, (failed.get(verb) ?? new Set()).add(group));
          }
        }
        if (failed.size > 0) {
          await this.#client.send('ROLLBACK');
          return new Map([...failed].map(([verb, where]) => [verb, this.#answer(verbs[verb] ?? [], where)]));
        }
        const rest = stage.filter(({ statement }) => statement.holds === 'always');
        sent.push(...rest.flatMap((group) => this.#sendAll(group)));
      }
      await awaitAll(sent);
    } catch (error) {
      await awaitAll(sent).catch(() => {});
      if (this.#client.isConnected) await this.#client.send('ROLLBACK');
      throw error;
    }
    await this.#client.send('COMMIT');
    return 'committed';
  }

  /** The rejection of the verb's first step that did not hold. */
  #answer(verb: Verb, where: ReadonlySet<Group>): Rejection {
    const statements = new Set([...where].map(({ statement }) => statement));
    const step = verb.find(([name]) => statements.has(this.#statements[name]));
    return step?.[1] ?? 'stale';
  }

  #storeNumber(number: number): Promise<QueryResult> {
    return this.#client.send(STORE_NUMBER, this.#numberParameters(number));
  }

  #numberParameters(number: number): readonly SqlValue[] {
    return [this.#writer, number, this.#clock.now()];
  }

  #sendAll({ statement, rows }: Group): Promise<QueryResult>[] {
    const isPrepared = statement.scans === undefined;
    return queriesFor(statement, rows).map(({ sql, parameters }) =>
      this.#client.send(sql, parameters, { isPrepared }),
    );
  }

  /** Whether the transaction with this number was committed. If not, it never will be. */
  async #wasCommitted(number: number): Promise<boolean> {
    const until = this.#timers.elapsed() + LOOK_UP_MS_MAX;
    for (;;) {
      if (await this.#client.waitUntilConnected(Math.max(until - this.#timers.elapsed(), 0))) {
        try {
          return await this.#lookUp(number);
        } catch (error) {
          if (!isTemporary(error)) throw broken(error);
        }
      }
      if (this.#timers.elapsed() >= until)
        throw new StoreUnavailable(
          'PostgreSQL: the answer to a commit was lost, and the outcome could not be looked up in time.',
        );
      await pause(this.#timers, LOOK_UP_PAUSE_MS);
    }
  }

  async #lookUp(number: number): Promise<boolean> {
    const sent = [
      this.#client.send(BEGIN),
      this.#client.send(INSERT_WRITER, [this.#writer, this.#clock.now()]),
      this.#client.send(LOCK_NUMBER, [this.#writer]),
    ];
    try {
      await awaitAll(sent);
      const [row] = ((await sent[2])?.rows ?? []) as readonly { readonly last: number }[];
      const wasCommitted = row?.last === number;
      // Written in both cases. If commits wait for a standby, this one waits for it, which the lost one may not have
      // done.
      const last = wasCommitted ? number : number + 1;
      await awaitAll([this.#client.send(RAISE_NUMBER, [this.#writer, last]), this.#client.send('COMMIT')]);
      return wasCommitted;
    } catch (error) {
      if (this.#client.isConnected) await this.#client.send('ROLLBACK');
      throw error;
    }
  }
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
function distinct(rows: Group['rows']): Group['rows'] {
  return rows.filter((row, index) => {
    const before = rows[index - 1];
    return before === undefined || row.some((value, position) => value !== before[position]);
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

function queriesFor(statement: Statement, rows: Group['rows']): readonly PlacedQuery[] {
  if (statement.queriesFor !== undefined) return statement.queriesFor(rows);
  return [{ sql: statement.sql, parameters: parametersOf(statement, rows) }];
}

/** An array for each column. A shared statement takes the values of its only row. */
function parametersOf({ isShared }: Statement, rows: Group['rows']): SqlValue[] {
  return isShared === true ? [...(rows[0] ?? [])] : columnsOf(rows);
}

/** The verbs whose row is not among those that held. */
function verbsNotHeld({ statement, rows, verbs }: Group, results: readonly QueryResult[]): readonly number[] {
  if (statement.holds === 'always') return [];
  if (statement.isShared === true) {
    const isFound = (results[0]?.rowCount ?? 0) > 0;
    return isFound === (statement.holds === 'one_row') ? [] : verbs;
  }
  const found = new Set(
    results.flatMap(({ rows: answers }) =>
      (answers as readonly Readonly<Record<string, unknown>>[]).map((answer) =>
        valuesKey(Object.values(answer)),
      ),
    ),
  );
  return verbs.filter((_, index) => {
    const isFound = found.has(rowKey({ key: statement.match ?? statement.key }, rows[index] ?? []));
    return statement.holds === 'one_row' ? !isFound : isFound;
  });
}

function broken(error: unknown): Error {
  return new Error(`A store verb failed: ${error instanceof Error ? error.message : String(error)}.`, {
    cause: error,
  });
}
