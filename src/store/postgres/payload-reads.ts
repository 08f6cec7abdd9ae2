/**
 * Reads the sealed payloads of requests in batches of limited size. One statement reads the small payloads of a few
 * deliveries, and tells which others are large. Each large one is read alone, on another connection. A small payload
 * never waits for a large one, and nothing else waits for either.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { StoredPayload } from '#src/ports/store.ts';
import type { LargePayloads } from './large-payloads.ts';
import { type PlacedText, type Placement, queryOf } from './placement.ts';
import type { Reader } from './read-pool.ts';

/** Sealed payloads up to this size are read together. It covers every payload that the engine treats as small. */
export const SMALL_SEALED_BYTES_MAX = 16_384 + 64;
/** Deliveries that one statement reads. */
const BATCH_MAX = 64;

const WANTED = ['partition', 'schedule_id', 'payload_version', 'endpoint_id', 'endpoint_version', 'position'];

/** Inner joins only: Citus cannot keep rows of `unnest` that have no match. */
function payloadsQuery({ tableText }: Placement): PlacedText {
  return tableText(
    WANTED,
    ({ table, value }) => `SELECT t.position, octet_length(p.sealed) AS size,
      CASE WHEN octet_length(p.sealed) <= ${SMALL_SEALED_BYTES_MAX} THEN p.sealed END AS bytes, NULL AS timeout,
      NULL::integer AS response_excerpt, NULL::integer AS standard_webhooks
    FROM ${table} JOIN payloads p ON p.partition = ${value('partition')}
      AND p.schedule_id = t.schedule_id AND p.version = t.payload_version
  UNION ALL SELECT t.position, NULL, v.sealed_headers, v.timeout, v.response_excerpt, v.standard_webhooks
    FROM ${table} JOIN endpoint_profile_versions v
      ON v.partition = ${value('partition')} AND v.endpoint_id = t.endpoint_id AND v.version = t.endpoint_version`,
  );
}

interface PayloadRow {
  /** The position of the delivery in the request. */
  readonly position: number;
  /** The size of a payload; null for a row of a profile version. */
  readonly size: number | null;
  readonly bytes: Uint8Array | null;
  readonly timeout: string | null;
  readonly response_excerpt: number | null;
  readonly standard_webhooks: number | null;
}

export class PayloadReads {
  readonly #small: Reader;
  readonly #large: Pick<LargePayloads, 'read'>;
  readonly #placement: Placement;
  readonly #payloads: PlacedText;

  constructor(small: Reader, large: Pick<LargePayloads, 'read'>, placement: Placement) {
    this.#small = small;
    this.#large = large;
    this.#placement = placement;
    this.#payloads = payloadsQuery(placement);
  }

  /** Reads the payload of a schedule, of any size. */
  payload(partition: Partition, id: ScheduleId, version: number): Promise<Uint8Array | null> {
    return this.#large.read(partition, id, version);
  }

  async load(deliveries: readonly Delivery[]): Promise<readonly StoredPayload[]> {
    const payloads: StoredPayload[] = [];
    for (let start = 0; start < deliveries.length; start += BATCH_MAX) {
      payloads.push(...(await this.#loadBatch(deliveries.slice(start, start + BATCH_MAX))));
    }
    return payloads;
  }

  async #loadBatch(deliveries: readonly Delivery[]): Promise<readonly StoredPayload[]> {
    const wanted = deliveries.map((delivery, position) => ({ ...delivery, position }));
    const pages = await Promise.all(
      this.#placement.together(wanted).map((some) => {
        const { sql, parameters } = queryOf(
          this.#payloads,
          // A notification has no schedule, and so no payload: its row finds only the version of the profile.
          some.map(({ partition, scheduleId, payloadVersion, target, position }) => [
            partition,
            scheduleId,
            payloadVersion,
            target.endpointId,
            target.endpointVersion,
            position,
          ]),
        );
        return this.#small.lookUp<PayloadRow>(sql, ...parameters);
      }),
    );
    const rows = pages.flat();
    const payloads = new Map(rows.filter(({ size }) => size !== null).map((row) => [row.position, row]));
    const versions = new Map(rows.filter(({ size }) => size === null).map((row) => [row.position, row]));
    // A version that is not the present one is read like a large payload: few deliveries name one.
    const large = this.#largeOf(
      deliveries.filter(({ scheduleId, payloadBytes }, index) => {
        const size = payloads.get(index)?.size;
        if (scheduleId === null) return false;
        return size === undefined ? payloadBytes > 0 : (size ?? 0) > SMALL_SEALED_BYTES_MAX;
      }),
    );
    return Promise.all(
      deliveries.map(async (delivery, index) => {
        const version = versions.get(index);
        return {
          payload: (await large.get(keyOf(delivery))) ?? payloads.get(index)?.bytes ?? null,
          profile: version === undefined ? null : profileIn(version),
        };
      }),
    );
  }

  /** Deliveries of one schedule share a payload, which is read once. */
  #largeOf(deliveries: readonly Delivery[]): ReadonlyMap<string, Promise<Uint8Array | null>> {
    const payloads = new Map<string, Promise<Uint8Array | null>>();
    for (const delivery of deliveries) {
      const key = keyOf(delivery);
      const { partition, scheduleId, payloadVersion } = delivery;
      if (scheduleId === null || payloads.has(key)) continue;
      payloads.set(key, this.#large.read(partition, scheduleId, payloadVersion));
    }
    return payloads;
  }
}

function keyOf({ partition, scheduleId, payloadVersion }: Delivery): string {
  return `${partition} ${scheduleId} ${payloadVersion}`;
}

function profileIn({ timeout, bytes, response_excerpt, standard_webhooks }: PayloadRow) {
  return {
    timeout,
    headers: bytes,
    responseExcerpt: response_excerpt,
    standardWebhooks: standard_webhooks === 1,
  };
}
