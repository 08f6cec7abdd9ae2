/** A bounded number of connections to ask questions on. Each takes several at a time, one behind the other. */
import { StoreUnavailable } from '#src/ports/store.ts';
import { unavailableInstead } from './faults.ts';
import type { Link, Manner } from './link.ts';
import type { Reader, SqlValue, Values } from './reader.ts';

/** More than this unanswered means that the database cannot keep up: refuse rather than grow. */
const UNDER_WAY_MAX = 5_000;

export class ReadPool implements Reader {
  readonly #links: readonly Link[];
  #isClosed = false;

  constructor(links: readonly Link[]) {
    this.#links = links;
  }

  ask<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#send(sql, parameters, { isKept: false });
  }

  lookUp<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#send(sql, parameters, { isKept: true });
  }

  lookUpValues(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Values[]> {
    return this.#send(sql, parameters, { isKept: true, rowMode: 'array' });
  }

  async #send<Row>(sql: string, parameters: readonly SqlValue[], manner: Manner): Promise<readonly Row[]> {
    try {
      const { rows } = await this.#leastBusy().send(sql, parameters, manner);
      return rows as readonly Row[];
    } catch (error) {
      throw unavailableInstead(error);
    }
  }

  #leastBusy(): Link {
    if (this.#isClosed) throw new StoreUnavailable('The store is closed.');
    let chosen: Link | null = null;
    for (const link of this.#links) {
      if (link.isUp && (chosen === null || link.underWay < chosen.underWay)) chosen = link;
    }
    if (chosen === null) throw new StoreUnavailable('PostgreSQL cannot be reached.');
    if (chosen.underWay >= UNDER_WAY_MAX) {
      throw new StoreUnavailable('Too many questions are waiting for the database.');
    }
    return chosen;
  }

  close(): void {
    this.#isClosed = true;
  }
}
