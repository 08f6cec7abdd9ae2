/**
 * Payloads that are too large to be read with others are read on a connection that reads nothing else, two at a time.
 * Customers take turns: one who has many of them waiting delays another by a payload or two.
 */
import { escapeLiteral } from 'pg';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { unavailableInstead } from './faults.ts';
import type { ReconnectingClient } from './reconnecting-client.ts';

/** The server reads the second one while the first is on its way. */
const IN_FLIGHT_MAX = 2;
/** More than this waiting means that the database cannot keep up: refuse rather than grow. */
const WAITING_MAX = 5_000;

interface Waiting {
  readonly partition: Partition;
  readonly id: ScheduleId;
  readonly resolve: (payload: Promise<Uint8Array | null>) => void;
}

export class LargePayloads {
  readonly #client: Pick<ReconnectingClient, 'copyOut'>;
  readonly #waiting = new RoundRobinQueue<Waiting>();
  #inFlight = 0;

  constructor(client: Pick<ReconnectingClient, 'copyOut'>) {
    this.#client = client;
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
    if (this.#inFlight >= IN_FLIGHT_MAX) return;
    const next = this.#waiting.next();
    if (next === undefined) return;
    this.#inFlight++;
    next.resolve(this.#copy(next));
  }

  async #copy({ partition, id }: Waiting): Promise<Uint8Array | null> {
    try {
      return await this.#client.copyOut(
        `SELECT sealed FROM payloads WHERE partition = ${partition} AND schedule_id = ${escapeLiteral(id)}`,
      );
    } catch (error) {
      throw unavailableInstead(error);
    } finally {
      this.#inFlight--;
      this.#next();
    }
  }
}
