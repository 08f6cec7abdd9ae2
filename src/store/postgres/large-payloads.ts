/**
 * Reads payloads that are too large to be read with others: one at a time, on a connection that reads nothing else.
 * Customers take turns: one who has many of them waiting delays another by one payload.
 */
import { escapeLiteral } from 'pg';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/partition.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { unavailableInstead } from './faults.ts';
import type { Link } from './link.ts';

/** The server reads the second one while the first is on its way. */
const UNDER_WAY_MAX = 2;
/** More than this waiting means that the database cannot keep up: refuse rather than grow. */
const WAITING_MAX = 5_000;

interface Waiting {
  readonly id: ScheduleId;
  readonly resolve: (payload: Promise<Uint8Array | null>) => void;
}

export class LargePayloads {
  readonly #link: Pick<Link, 'copyOut'>;
  /** By customer; the customer whose turn is next comes first. */
  readonly #waiting = new Map<Partition, Waiting[]>();
  #waitingCount = 0;
  #underWay = 0;

  constructor(link: Pick<Link, 'copyOut'>) {
    this.#link = link;
  }

  async read(partition: Partition, id: ScheduleId): Promise<Uint8Array | null> {
    if (this.#waitingCount >= WAITING_MAX) {
      throw new StoreUnavailable('Too many payloads are waiting for the database.');
    }
    return new Promise((resolve) => {
      const own = this.#waiting.get(partition);
      if (own === undefined) this.#waiting.set(partition, [{ id, resolve }]);
      else own.push({ id, resolve });
      this.#waitingCount++;
      this.#next();
    });
  }

  #next(): void {
    if (this.#underWay >= UNDER_WAY_MAX) return;
    const [turn] = this.#waiting;
    if (turn === undefined) return;
    const [partition, own] = turn;
    const waiting = own.shift();
    this.#waiting.delete(partition);
    if (own.length > 0) this.#waiting.set(partition, own);
    if (waiting === undefined) return;
    this.#waitingCount--;
    this.#underWay++;
    waiting.resolve(this.#copy(partition, waiting.id));
  }

  async #copy(partition: Partition, id: ScheduleId): Promise<Uint8Array | null> {
    try {
      return await this.#link.copyOut(
        `SELECT sealed FROM payloads WHERE partition = ${partition} AND schedule_id = ${escapeLiteral(id)}`,
      );
    } catch (error) {
      throw unavailableInstead(error);
    } finally {
      this.#underWay--;
      this.#next();
    }
  }
}
