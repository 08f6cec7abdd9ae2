/**
 * Reads the sealed bytes of requests, in pieces whose size is bounded whatever is asked for. One statement reads the
 * small payloads of a few deliveries, and tells which of the others are large. Each of those is read on its own, on
 * another connection: a small one never waits for a large one, and nothing else waits for either.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { StoredPayload } from '#src/ports/store.ts';
import type { LargePayloads } from './large-payloads.ts';
import type { Reader } from './read-pool.ts';

/** A sealed payload up to this size is read together with others: one that the engine takes for small always is. */
export const SMALL_SEALED_BYTES_MAX = 16_384 + 64;
/** Deliveries of one statement. */
const TOGETHER_MAX = 64;

/** Inner joins only: a server that shares out partitions cannot keep a row that has none of the others. */
const MESSAGES = `SELECT t.place, octet_length(p.sealed) AS size,
      CASE WHEN octet_length(p.sealed) <= ${SMALL_SEALED_BYTES_MAX} THEN p.sealed END AS bytes, NULL AS timeout
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS t (partition, schedule_id, place)
    JOIN payloads p ON p.partition = t.partition AND p.schedule_id = t.schedule_id
  UNION ALL SELECT t.place, NULL, v.headers, v.timeout
    FROM unnest($1::bigint[], $3::text[], $4::integer[]) WITH ORDINALITY
      AS t (partition, endpoint_id, version, place)
    JOIN endpoint_versions v
      ON v.partition = t.partition AND v.endpoint_id = t.endpoint_id AND v.version = t.version`;

interface MessageRow {
  /** The position of the delivery among those asked for, from 1 on. */
  readonly place: number;
  /** The size of a payload; null for a version of a profile. */
  readonly size: number | null;
  readonly bytes: Uint8Array | null;
  readonly timeout: string | null;
}

export class PayloadReads {
  readonly #small: Reader;
  readonly #large: Pick<LargePayloads, 'read'>;

  constructor(small: Reader, large: Pick<LargePayloads, 'read'>) {
    this.#small = small;
    this.#large = large;
  }

  /** The payload of a schedule, whatever its size. */
  payload(partition: Partition, id: ScheduleId): Promise<Uint8Array | null> {
    return this.#large.read(partition, id);
  }

  async load(deliveries: readonly Delivery[]): Promise<readonly StoredPayload[]> {
    const messages: StoredPayload[] = [];
    for (let start = 0; start < deliveries.length; start += TOGETHER_MAX) {
      messages.push(...(await this.#some(deliveries.slice(start, start + TOGETHER_MAX))));
    }
    return messages;
  }

  async #some(deliveries: readonly Delivery[]): Promise<readonly StoredPayload[]> {
    const rows = await this.#small.lookUp<MessageRow>(
      MESSAGES,
      deliveries.map(({ partition }) => partition),
      deliveries.map(({ scheduleId }) => scheduleId),
      deliveries.map(({ target }) => target.endpointId),
      deliveries.map(({ target }) => target.endpointVersion),
    );
    const payloads = new Map(rows.filter(({ size }) => size !== null).map((row) => [row.place, row]));
    const versions = new Map(rows.filter(({ size }) => size === null).map((row) => [row.place, row]));
    const large = this.#largeOf(
      deliveries.filter((_, index) => (payloads.get(index + 1)?.size ?? 0) > SMALL_SEALED_BYTES_MAX),
    );
    return Promise.all(
      deliveries.map(async (delivery, index) => {
        const version = versions.get(index + 1);
        return {
          payload: (await large.get(keyOf(delivery))) ?? payloads.get(index + 1)?.bytes ?? null,
          profile: version === undefined ? null : { timeout: version.timeout, headers: version.bytes },
        };
      }),
    );
  }

  /** Deliveries of one schedule share its payload: it is read once. */
  #largeOf(deliveries: readonly Delivery[]): ReadonlyMap<string, Promise<Uint8Array | null>> {
    const payloads = new Map<string, Promise<Uint8Array | null>>();
    for (const delivery of deliveries) {
      const key = keyOf(delivery);
      if (!payloads.has(key)) payloads.set(key, this.#large.read(delivery.partition, delivery.scheduleId));
    }
    return payloads;
  }
}

function keyOf({ partition, scheduleId }: Delivery): string {
  return `${partition} ${scheduleId}`;
}
