/**
 * Asks what nobody who fires waits for, on connections of its own, which are opened when the first question comes: a
 * node that nobody looks at has none. No question may change anything or take long: a transaction of its own says so,
 * since a session behind a pooler is anybody's.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import { unavailableInstead } from './faults.ts';
import type { Link, Manner } from './link.ts';
import type { Reader, SqlValue, Values } from './reader.ts';

const QUESTION_MS_MAX = 2_000;
const BEGIN_READING = `BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY;
  SET LOCAL statement_timeout = ${QUESTION_MS_MAX}`;
/** More than this unanswered means that nobody is waiting for the answers any more. */
const UNDER_WAY_MAX = 64;

export class AsideReader implements Reader {
  readonly #make: () => readonly Link[];
  #made: readonly Link[] = [];
  #links: Promise<readonly Link[]> | null = null;
  #underWay = 0;
  #isClosed = false;

  /** `make`: links that are not open yet. */
  constructor(make: () => readonly Link[]) {
    this.#make = make;
  }

  ask<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#ask(sql, parameters, { isKept: false });
  }

  /** There are too few of them for a plan to be worth keeping. */
  lookUp<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.ask(sql, ...parameters);
  }

  lookUpValues(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Values[]> {
    return this.#ask(sql, parameters, { isKept: false, rowMode: 'array' });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#made.map((link) => link.close()));
  }

  async #ask<Row>(sql: string, parameters: readonly SqlValue[], manner: Manner): Promise<readonly Row[]> {
    if (this.#isClosed) throw new StoreUnavailable('The store is closed.');
    if (this.#underWay >= UNDER_WAY_MAX) {
      throw new StoreUnavailable('Too many questions are waiting for the database.');
    }
    this.#underWay++;
    try {
      const link = leastBusy(await this.#opened());
      const [begun, asked, ended] = [
        link.send(BEGIN_READING),
        link.send(sql, parameters, manner),
        link.send('COMMIT'),
      ];
      const [, answer] = await Promise.allSettled([begun, asked, ended]);
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value.rows as readonly Row[];
    } catch (error) {
      throw unavailableInstead(error);
    } finally {
      this.#underWay--;
    }
  }

  async #opened(): Promise<readonly Link[]> {
    if (this.#links === null) {
      this.#made = this.#make();
      this.#links = openAll(this.#made);
    }
    try {
      return await this.#links;
    } catch (error) {
      // The next question tries again.
      this.#links = null;
      throw error;
    }
  }
}

/** None stays open when one cannot be had: each further attempt would take a connection more from a server short of them. */
async function openAll(links: readonly Link[]): Promise<readonly Link[]> {
  try {
    await Promise.all(links.map((link) => link.open()));
    return links;
  } catch (error) {
    await Promise.all(links.map((link) => link.close()));
    throw error;
  }
}

function leastBusy(links: readonly Link[]): Link {
  const [chosen] = links.filter(({ isUp }) => isUp).toSorted((one, other) => one.underWay - other.underWay);
  if (chosen === undefined) throw new StoreUnavailable('PostgreSQL cannot be reached.');
  return chosen;
}
