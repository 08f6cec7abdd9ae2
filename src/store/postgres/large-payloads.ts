/**
 * Reads payloads that are too large to be read together with others, on a connection of its own.
 * Customers are served round robin, so a customer with many waiting delays another by one or two payloads.
 */
import { escapeLiteral } from 'pg';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { unavailableInstead } from './errors.ts';
import type { ReconnectingClient } from './reconnecting-client.ts';

/** The server reads the second payload while it sends the first: 768 KB take 1.4 ms instead of 1.8 ms. */
const IN_FLIGHT_MAX = 2;
/** PgBouncer 1.18 gives up its server after the first of two COPY results, and loses the second. */
const POOLED_IN_FLIGHT_MAX = 1;
/** When more than this are waiting, the database is too slow. New reads are refused, so memory does not grow. */
const WAITING_MAX = 5_000;

interface Waiting {
  readonly partition: Partition;
  readonly id: ScheduleId;
  readonly version: number;
  readonly resolve: (payload: Promise<Uint8Array | null>) => void;
}

export class LargePayloads {
  readonly #client: Pick<ReconnectingClient, 'copyOut'>;
  readonly #inFlightMax: number;
  readonly #waiting = new RoundRobinQueue<Waiting>();
  #inFlight = 0;

  constructor(client: Pick<ReconnectingClient, 'copyOut'>, isPooled: boolean) {
    this.#client = client;
    this.#inFlightMax = isPooled ? POOLED_IN_FLIGHT_MAX : IN_FLIGHT_MAX;
  }

  async read(partition: Partition, id: ScheduleId, version: number): Promise<Uint8Array | null> {
    if (this.#waiting.size >= WAITING_MAX) {
      throw new StoreUnavailable('Too many payloads are waiting for the database.');
    }
    return new Promise((resolve) => {
      this.#waiting.add(partition, { partition, id, version, resolve });
      this.#next();
    });
  }

  #next(): void {
    if (this.#inFlight >= this.#inFlightMax) return;
    const next = this.#waiting.next();
    if (next === undefined) return;
    this.#inFlight++;
    next.resolve(this.#copy(next));
  }

  /** A version is moved from the present to the earlier ones and not back, so two reads find it. */
  async #copy({ partition, id, version }: Waiting): Promise<Uint8Array | null> {
    const which = `partition = ${partition} AND schedule_id = ${escapeLiteral(id)} AND version = ${version}`;
    try {
      return (
        (await this.#client.copyOut(`SELECT sealed FROM payloads WHERE ${which}`)) ??
        (await this.#client.copyOut(`SELECT sealed FROM earlier_payloads WHERE ${which}`))
      );
    } catch (error) {
      throw unavailableInstead(error);
    } finally {
      this.#inFlight--;
      this.#next();
    }
  }
}
