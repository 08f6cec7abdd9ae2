/**
 * Payloads that are too large to be read with others are read on a connection that reads nothing else, two at a time.
 * Customers take turns: one who has many of them waiting delays another by a payload or two.
 */
import { escapeLiteral } from 'pg';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/partition.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { unavailableInstead } from './faults.ts';
import type { Link } from './link.ts';

/** The server reads the second one while the first is on its way. */
const UNDER_WAY_MAX = 2;
/** More than this waiting means that the database cannot keep up: refuse rather than grow. */
const WAITING_MAX = 5_000;

interface Waiting {
  readonly partition: Partition;
  readonly id: ScheduleId;
  readonly resolve: (payload: Promise<Uint8Array | null>) => void;
}

export class LargePayloads {
  readonly #link: Pick<Link, 'copyOut'>;
  readonly #waiting = new RoundRobinQueue<Waiting>();
  #underWay = 0;

  constructor(link: Pick<Link, 'copyOut'>) {
    this.#link = link;
  }

  async read(partition: Partition, id: ScheduleId): Promise<Uint8Array | null> {
    if (this.#waiting.size >= WAITING_MAX) {
      throw new StoreUnavailable('Too many payloads are waiting for the database.');
    }
    return new Promise((resolve) => {
      this.#waiting.add(partition, { partition, id, resolve });
      this.#next();
    });
  }

  #next(): void {
    if (this.#underWay >= UNDER_WAY_MAX) return;
    const next = this.#waiting.next();
    if (next === undefined) return;
    this.#underWay++;
    next.resolve(this.#copy(next));
  }

  async #copy({ partition, id }: Waiting): Promise<Uint8Array | null> {
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
