/**
 * Carries out a batch of verbs in one transaction, on a connection that nobody else writes on.
 *
 * As a rule everything holds. Then it takes one round trip: the whole transaction is written at once, and each
 * statement of it fails unless it held for every row, which leaves nothing to commit. Only after that is it
 * asked, with a second round trip before the commit, for which verbs something did not hold: these have their
 * answer, and the others are carried out without them.
 *
 * A commit whose answer is lost is looked up. Every transaction leaves its number in the writer's own row; to
 * look is to wait for a transaction that still holds that row, and to take the row away from one that has not
 * come to it yet. So whatever is found is final.
 */
import type { QueryResult } from 'pg';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Clock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { Parameter, Rejection } from '#src/store/sql/steps.ts';
import { awaitAll, faultOf } from './faults.ts';
import type { SqlValue } from './parameter-encoding.ts';
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
import { BEGIN } from './transaction-timeouts.ts';

export type Answer = 'done' | Rejection | Error;

export interface ExecutorOptions {
  readonly client: ReconnectingClient;
  readonly clock: Clock;
  readonly timers: Timers & Stopwatch;
  /** Of this connection's own, among those of all nodes. */
  readonly writer: string;
  readonly statements: Statements;
  /** Whether the tables are spread over several servers. */
  readonly distributed: boolean;
}

/** It fails for a transaction that comes after one with a higher number of the same writer. */
export const MARK = `WITH marked AS (
    INSERT INTO writers (writer, last, at) VALUES ($1, $2, $3)
    ON CONFLICT (writer) DO UPDATE SET last = excluded.last, at = excluded.at
    WHERE writers.last < excluded.last RETURNING 1)
  SELECT 1 / count(*) FROM marked`;
const KNOWN = 'INSERT INTO writers (writer, last, at) VALUES ($1, 0, $2) ON CONFLICT (writer) DO NOTHING';
const LAST = 'SELECT last FROM writers WHERE writer = $1 FOR UPDATE';
const SET_LAST = 'UPDATE writers SET last = $2 WHERE writer = $1';

/** How long the outcome of a lost commit is looked for before it is given up. */
const LOOK_UP_MS_MAX = 5_000;
const LOOK_AGAIN_MS = 250;
const ATTEMPTS_MAX = 5;
const TOO_MANY = 'PostgreSQL: the same rows are written by too many at once.';

const DIVISION_BY_ZERO = '22012';

export class Executor {
  readonly #client: ReconnectingClient;
  readonly #clock: Clock;
  readonly #timers: Timers & Stopwatch;
  readonly #writer: string;
  readonly #statements: Statements;
  readonly #distributed: boolean;
  #number = 0;

  constructor({ client, clock, timers, writer, statements, distributed }: ExecutorOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#timers = timers;
    this.#writer = writer;
    this.#statements = statements;
    this.#distributed = distributed;
  }

  /** An answer for each verb. Rejects when the database is away: then nothing is known to be stored. */
  async run(batch: readonly Verb[]): Promise<readonly Answer[]> {
    const answers: (Answer | null)[] = batch.map(() => null);
    let isInDoubt = this.#distributed;
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
      const open = batch.flatMap((verb, index) => (answers[index] === null ? [{ verb, index }] : []));
      if (open.length === 0) break;
      const outcome = await this.#attempt(
        open.map(({ verb }) => verb),
        isInDoubt,
      );
      if (outcome === 'committed') for (const { index } of open) answers[index] = 'done';
      else if (outcome === 'not held') isInDoubt = true;
      else if (outcome instanceof Error) {
        if (batch.length === 1) return [outcome];
        return this.#oneByOne(batch, answers);
      } else if (outcome !== 'again') {
        for (const [place, { index }] of open.entries()) answers[index] = outcome.get(place) ?? null;
        // Something is always found out; that is no failed attempt.
        attempts--;
      }
    }
    return answers.map((answer) => answer ?? new StoreUnavailable(TOO_MANY));
  }

  /** One of them cannot be carried out: the others can. */
  async #oneByOne(batch: readonly Verb[], known: readonly (Answer | null)[]): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    for (const [index, verb] of batch.entries()) {
      const [answer] = known[index] === null ? await this.run([verb]) : [known[index]];
      answers.push(answer ?? 'done');
    }
    return answers;
  }

  async #attempt(
    batch: readonly Verb[],
    asks: boolean,
  ): Promise<'committed' | 'not held' | 'again' | Error | ReadonlyMap<number, Rejection>> {
    const stages = planStages(batch, this.#statements);
    // Nothing has been sent yet: there is nothing to look up.
    if (!this.#client.isConnected) throw new StoreUnavailable('PostgreSQL cannot be reached.');
    this.#number += 2;
    const number = this.#number;
    try {
      return asks ? await this.#asking(batch, stages, number) : await this.#atOnce(stages, number);
    } catch (error) {
      switch (faultOf(error)) {
        case 'retry':
          return 'again';
        case 'unavailable':
          return (await this.#wasCommitted(number)) ? 'committed' : 'again';
        case 'broken':
          return error instanceof Error && 'code' in error && error.code === DIVISION_BY_ZERO
            ? 'not held'
            : broken(error);
      }
    }
  }

  /** Commits if everything holds for everyone. */
  async #atOnce(stages: readonly Stage[], number: number): Promise<'committed'> {
    await this.#client.transaction([
      { sql: MARK, parameters: this.#marked(number), isPrepared: true },
      ...stages.flat().flatMap(holding),
    ]);
    return 'committed';
  }

  /** The answers of the verbs for which something does not hold; where all does, it is committed. */
  async #asking(
    batch: readonly Verb[],
    stages: readonly Stage[],
    number: number,
  ): Promise<'committed' | ReadonlyMap<number, Rejection>> {
    const sent: Promise<QueryResult>[] = [this.#client.send(BEGIN), this.#mark(number)];
    try {
      for (const stage of stages) {
        const guards = stage.filter(({ statement }) => statement.holds !== 'always');
        const asked = guards.map((group) => this.#sendAll(group));
        await awaitAll([...sent, ...asked.flat()]);
        const failed = new Map<number, Set<Group>>();
        for (const [index, group] of guards.entries()) {
          for (const verb of unheld(group, await Promise.all(asked[index] ?? []))) {
            failed.set(verb, (failed.get(verb) ?? new Set()).add(group));
          }
        }
        if (failed.size > 0) {
          await this.#client.send('ROLLBACK');
          return new Map([...failed].map(([verb, where]) => [verb, this.#answer(batch[verb] ?? [], where)]));
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

  /** What the first of its own steps that did not hold says. */
  #answer(verb: Verb, where: ReadonlySet<Group>): Rejection {
    const statements = new Set([...where].map(({ statement }) => statement));
    const step = verb.find(([name]) => statements.has(this.#statements[name]));
    return step?.[1] ?? 'stale';
  }

  #mark(number: number): Promise<QueryResult> {
    return this.#client.send(MARK, this.#marked(number));
  }

  #marked(number: number): readonly SqlValue[] {
    return [this.#writer, number, this.#clock.now()];
  }

  #sendAll({ statement, rows }: Group): Promise<QueryResult>[] {
    if (this.#distributed && statement.routed !== null) return this.#sendRouted(statement.routed, rows);
    const { spread } = statement;
    const columns = columnsOf(rows);
    if (spread !== null) columns.push([...new Set(rows.map((row) => row[spread] ?? null))]);
    return statement.sql.map((sql) =>
      this.#client.send(sql, columns, { isPrepared: statement.scans === undefined }),
    );
  }

  #sendRouted(sql: string, rows: Group['rows']): Promise<QueryResult>[] {
    const byPartition = new Map<Parameter, (readonly Parameter[])[]>();
    for (const [partition = null, ...rest] of rows) {
      byPartition.set(partition, [...(byPartition.get(partition) ?? []), rest]);
    }
    return [...byPartition].map(([partition, rest]) =>
      this.#client.send(sql, [partition, ...columnsOf(rest)]),
    );
  }

  /** Whether the transaction of this number was committed; when it was not, it never will be. */
  async #wasCommitted(number: number): Promise<boolean> {
    const until = this.#timers.elapsed() + LOOK_UP_MS_MAX;
    for (;;) {
      if (await this.#client.waitUntilConnected(Math.max(until - this.#timers.elapsed(), 0))) {
        try {
          return await this.#lookUp(number);
        } catch (error) {
          if (faultOf(error) === 'broken') throw broken(error);
        }
      }
      if (this.#timers.elapsed() >= until) throw new StoreUnavailable('PostgreSQL: an answer was lost.');
      await new Promise<void>((resolve) => void this.#timers.after(LOOK_AGAIN_MS, resolve));
    }
  }

  async #lookUp(number: number): Promise<boolean> {
    const sent = [
      this.#client.send(BEGIN),
      this.#client.send(KNOWN, [this.#writer, this.#clock.now()]),
      this.#client.send(LAST, [this.#writer]),
    ];
    try {
      await awaitAll(sent);
      const [row] = ((await sent[2])?.rows ?? []) as readonly { readonly last: number }[];
      const wasCommitted = row?.last === number;
      // Written in either case: this commit waits for a standby, if one is waited for, as that one may not have.
      const last = wasCommitted ? number : number + 1;
      await awaitAll([this.#client.send(SET_LAST, [this.#writer, last]), this.#client.send('COMMIT')]);
      return wasCommitted;
    } catch (error) {
      if (this.#client.isConnected) await this.#client.send('ROLLBACK');
      throw error;
    }
  }
}

/** The statements of a group: the last fails, and with it the transaction, unless it held for every row. */
function holding({ statement, rows: all }: Group): readonly TransactionQuery[] {
  const isPrepared = statement.scans === undefined;
  const rows = statement.access === 'read' ? distinct(all) : all;
  const columns = columnsOf(rows);
  return statement.sql.map((sql, index) => {
    if (index < statement.sql.length - 1 || statement.holds === 'always') {
      return { sql, parameters: columns, isPrepared };
    }
    const expected = statement.holds === 'each' ? rows.length : 0;
    return { sql: heldBy(sql, columns.length), parameters: [...columns, expected], isPrepared };
  });
}

/** Many may ask for the same, such as the slot of their endpoint; rows stand in the order of their keys. */
function distinct(rows: Group['rows']): Group['rows'] {
  return rows.filter((row, index) => {
    const before = rows[index - 1];
    return before === undefined || row.some((value, position) => value !== before[position]);
  });
}

/**
 * By the statement itself, which always has the same number of parameters. A text that is made anew would have to
 * be read through each time it is looked for.
 */
const heldTexts = new Map<string, string>();

/** Divides by zero unless it returns as many rows as expected. */
function heldBy(sql: string, parameters: number): string {
  const known = heldTexts.get(sql);
  if (known !== undefined) return known;
  const made = `WITH held AS (${sql}) SELECT 1 / (count(*) = $${parameters + 1}::integer)::integer FROM held`;
  heldTexts.set(sql, made);
  return made;
}

function columnsOf(rows: Group['rows']): SqlValue[] {
  const [first = []] = rows;
  return first.map((_, column) => rows.map((row) => row[column] ?? null));
}

/** The verbs whose row is not among those that held. */
function unheld({ statement, rows, verbs }: Group, results: readonly QueryResult[]): readonly number[] {
  if (statement.holds === 'always') return [];
  const answered = statement.routed === null ? results.slice(-1) : results;
  const found = new Set(
    answered.flatMap(({ rows: answers }) =>
      (answers as readonly Readonly<Record<string, unknown>>[]).map((answer) =>
        valuesKey(Object.values(answer)),
      ),
    ),
  );
  return verbs.filter((_, index) => {
    const isFound = found.has(rowKey({ key: statement.match ?? statement.key }, rows[index] ?? []));
    return statement.holds === 'each' ? !isFound : isFound;
  });
}

function broken(error: unknown): Error {
  return new Error(`A store verb failed: ${error instanceof Error ? error.message : String(error)}.`, {
    cause: error,
  });
}
