/**
 * The queries of the engine on the way to a request. They run for every delivery, often many at a time and when it
 * is due. Each is a short index scan or a few look-ups by key. Sealed bytes are read only for requests that are
 * really sent.
 */

import { type Delivery, isInFlight } from '#src/domain/delivery.ts';
import type { UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { FiringProfile } from '#src/domain/endpoint-profile.ts';
import type { Gate } from '#src/domain/gate.ts';
import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { FiringSchedule } from '#src/domain/schedule.ts';
import { type Slot, slotOf } from '#src/domain/slot.ts';
import { cachedEndpointKey } from '#src/ports/endpoint-cache.ts';
import type {
  CustomerCursor,
  CustomersPage,
  LoadedDelivery,
  StoredPayload,
  UnsettledAttempt,
} from '#src/ports/store.ts';
import { DUE_COLUMNS, type DueRow, toDue, WAITING } from '#src/store/sql/due-rows.ts';
import { FIRING_PROFILE_COLUMNS, firingProfileIn } from '#src/store/sql/joined-rows.ts';
import type { Row } from '#src/store/sql/mapping.ts';
import { BEFORE_EVERY_DELIVERY, BEFORE_EVERY_PARTITION, type DueCursor } from '#src/store/sql/page-bounds.ts';
import { FIND_FIRING_SCHEDULE } from '#src/store/sql/reads.ts';
import { DELIVERY, FIRING_SCHEDULE, readGate } from '#src/store/sql/rows.ts';
import { SWEEP } from '#src/store/sql/sweep-rows.ts';
import type { Db } from './connection.ts';
import { PreparedQueries } from './prepared-queries.ts';

const FIRING_PROFILE_BY_ID = `SELECT ${FIRING_PROFILE_COLUMNS} FROM endpoint_profiles p
  JOIN endpoint_profile_versions v ON v.partition = p.partition AND v.endpoint_id = p.id AND v.version = p.version
  WHERE p.partition = ? AND p.id = ?`;

/** A delivery and its schedule, which a notification does not have. */
const FIND_WITH_SCHEDULE = `SELECT ${columnsOf('d', DELIVERY.columns)}, ${columnsOf('s', FIRING_SCHEDULE.columns)}
  FROM deliveries d LEFT JOIN schedules s ON s.partition = d.partition AND s.id = d.schedule_id
  WHERE d.partition = ? AND d.id = ?`;

function columnsOf(alias: string, columns: readonly string[]): string {
  return columns.map((column) => `${alias}.${column}`).join(', ');
}

const PRESENT_PAYLOAD = 'SELECT sealed FROM payloads WHERE partition = ? AND schedule_id = ? AND version = ?';
const EARLIER_PAYLOAD = PRESENT_PAYLOAD.replace('payloads', 'earlier_payloads');

const DUE = dueBy('deliveries_due', WAITING);
const DUE_OF_CUSTOMER = dueBy('deliveries_due_of_partition', `partition = ? AND ${WAITING}`);

function dueBy(index: string, condition: string): string {
  return `SELECT ${DUE_COLUMNS} FROM deliveries INDEXED BY ${index}
    WHERE ${condition} AND (due_at, id) > (?, ?) AND due_at <= ? ORDER BY due_at, id LIMIT ?`;
}

interface PayloadProfileRow {
  readonly timeout: string | null;
  readonly headers: Uint8Array | null;
  readonly responseExcerpt: number | null;
  readonly standardWebhooks: number;
}

export class FiringReads {
  readonly #queries: PreparedQueries;

  constructor(db: Db) {
    this.#queries = new PreparedQueries(db);
  }

  /**
   * A SQLite file usually belongs to one node. Deliveries of other nodes' slots are therefore filtered here, without
   * an index.
   */
  due(
    after: DueCursor | null,
    until: Instant,
    limit: number,
    slots?: ReadonlySet<Slot>,
  ): readonly DueDelivery[] {
    if (slots === undefined) return this.#due(DUE, [], after, until, limit);
    const found: DueDelivery[] = [];
    for (let from = after; found.length < limit; ) {
      const page = this.#due(DUE, [], from, until, limit);
      found.push(...page.filter(({ partition, endpoint }) => slots.has(slotOf(partition, endpoint))));
      from = page.at(-1) ?? from;
      if (page.length < limit) break;
    }
    return found.slice(0, limit);
  }

  #due(
    scan: string,
    key: readonly Partition[],
    after: DueCursor | null,
    until: Instant,
    limit: number,
  ): readonly DueDelivery[] {
    const { dueAt, id } = after ?? BEFORE_EVERY_DELIVERY;
    return this.#queries.all<DueRow>(scan, ...key, dueAt, id, until, limit).map(toDue);
  }

  /** Jumps along the index from one customer with waiting deliveries to the next. */
  customers(after: CustomerCursor | null, limit: number): readonly CustomerCursor[] {
    return this.#queries.inSnapshot(() => {
      const found: CustomerCursor[] = [];
      let last = after?.partition ?? BEFORE_EVERY_PARTITION;
      while (found.length < limit) {
        const next = this.#queries.get<{ readonly partition: Partition }>(
          `SELECT partition FROM deliveries INDEXED BY deliveries_due_of_partition
           WHERE ${WAITING} AND partition > ? ORDER BY partition LIMIT 1`,
          last,
        );
        if (next === undefined) break;
        found.push({ partition: next.partition, slot: null, after: null });
        last = next.partition;
      }
      return found;
    });
  }

  dueOfCustomers(
    cursors: readonly CustomerCursor[],
    until: Instant,
    limitEach: number,
    slots?: ReadonlySet<Slot>,
  ): CustomersPage {
    const due: DueDelivery[] = [];
    const unfinished: CustomerCursor[] = [];
    this.#queries.inSnapshot(() => {
      for (const cursor of cursors) {
        const found = this.#due(DUE_OF_CUSTOMER, [cursor.partition], cursor.after, until, limitEach);
        due.push(
          ...found.filter(({ partition, endpoint }) => slots?.has(slotOf(partition, endpoint)) ?? true),
        );
        if (found.length === limitEach) unfinished.push({ ...cursor, after: found.at(-1) ?? null });
      }
    });
    return { due, unfinished };
  }

  load(deliveries: readonly Pick<DueDelivery, 'partition' | 'id'>[]): readonly (LoadedDelivery | null)[] {
    return this.#queries.inSnapshot(() => {
      // Deliveries of a batch often share their endpoint.
      const profiles = new Shared((partition, id: EndpointId) => this.#profile(partition, id));
      const gates = new Shared((partition, endpoint: EndpointKey) => this.#gate(partition, endpoint));
      const sweeps = this.#hasSweeps()
        ? new Shared((partition, id: ScheduleId) => this.#sweep(partition, id))
        : null;
      return deliveries.map(({ partition, id }) => {
        const values = this.#queries.values(FIND_WITH_SCHEDULE, partition, id);
        const delivery = values === undefined ? null : DELIVERY.at(values, 0);
        const schedule = values === undefined ? null : FIRING_SCHEDULE.at(values, DELIVERY.columns.length);
        if (delivery === null || (schedule === null && delivery.scheduleId !== null)) return null;
        const destination = schedule?.destination;
        const { endpointId } = delivery.target;
        return {
          delivery,
          schedule,
          profile: destination?.kind === 'profile' ? profiles.of(partition, destination.endpointId) : null,
          endpointProfile: endpointId === null ? null : profiles.of(partition, endpointId),
          gate: gates.of(partition, cachedEndpointKey(delivery.target)),
          sweep: schedule === null ? null : (sweeps?.of(partition, schedule.id) ?? null),
        };
      });
    });
  }

  #scheduleOf({ partition, scheduleId }: Delivery): FiringSchedule | null {
    if (scheduleId === null) return null;
    const row = this.#queries.get<Row>(FIND_FIRING_SCHEDULE, partition, scheduleId);
    return row === undefined ? null : FIRING_SCHEDULE.from(row);
  }

  #profile(partition: Partition, id: EndpointId): FiringProfile | null {
    const row = this.#queries.get<Row>(FIRING_PROFILE_BY_ID, partition, id);
    return row === undefined ? null : firingProfileIn(row);
  }

  #gate(partition: Partition, endpoint: EndpointKey): Gate | null {
    const sql = 'SELECT state FROM gates WHERE partition = ? AND endpoint = ?';
    const row = this.#queries.get<{ readonly state: string }>(sql, partition, endpoint);
    return row === undefined ? null : readGate(row.state);
  }

  /** Usually no sweep is stored, and then no delivery has to look for one. */
  #hasSweeps(): boolean {
    return this.#queries.get('SELECT 1 FROM sweeps LIMIT 1') !== undefined;
  }

  #sweep(partition: Partition, id: ScheduleId): UnfinishedSweep | null {
    const sql = 'SELECT * FROM sweeps WHERE partition = ? AND schedule_id = ?';
    const row = this.#queries.get<Row>(sql, partition, id);
    return row === undefined ? null : SWEEP.from(row);
  }

  payloads(deliveries: readonly Delivery[]): readonly StoredPayload[] {
    return this.#queries.inSnapshot(() => deliveries.map((delivery) => this.#payload(delivery)));
  }

  /** Reads the present version first, which nearly all deliveries name. */
  payload(partition: Partition, id: ScheduleId, version: number): Uint8Array | null {
    return (
      this.#sealed(PRESENT_PAYLOAD, partition, id, version) ??
      this.#sealed(EARLIER_PAYLOAD, partition, id, version)
    );
  }

  #sealed(sql: string, partition: Partition, id: ScheduleId, version: number): Uint8Array | null {
    return this.#queries.get<{ readonly sealed: Uint8Array }>(sql, partition, id, version)?.sealed ?? null;
  }

  #payload({ partition, scheduleId, payloadBytes, payloadVersion, target }: Delivery): StoredPayload {
    const payload =
      scheduleId === null
        ? null
        : (this.#sealed(PRESENT_PAYLOAD, partition, scheduleId, payloadVersion) ??
          (payloadBytes === 0 ? null : this.#sealed(EARLIER_PAYLOAD, partition, scheduleId, payloadVersion)));
    if (target.endpointId === null) return { payload, profile: null };
    const profile = this.#queries.get<PayloadProfileRow>(
      `SELECT timeout, sealed_headers AS headers, response_excerpt AS responseExcerpt,
         standard_webhooks AS standardWebhooks
       FROM endpoint_profile_versions WHERE partition = ? AND endpoint_id = ? AND version = ?`,
      partition,
      target.endpointId,
      target.endpointVersion,
    );
    if (profile === undefined) return { payload, profile: null };
    return { payload, profile: { ...profile, standardWebhooks: profile.standardWebhooks === 1 } };
  }

  /** Jumps along the index from node to node, so the claims of living nodes are not read. */
  lostClaims(livingNodes: readonly string[], limit: number): readonly UnsettledAttempt[] {
    return this.#queries.inSnapshot(() => {
      const living = new Set(livingNodes);
      const lost: UnsettledAttempt[] = [];
      let node = this.#claimingNodeAfter('');
      while (node !== null && lost.length < limit) {
        if (!living.has(node)) lost.push(...this.#claimsOf(node, limit - lost.length));
        node = this.#claimingNodeAfter(node);
      }
      return lost;
    });
  }

  #claimingNodeAfter(node: string): string | null {
    const row = this.#queries.get<{ readonly claim_node: string }>(
      `SELECT claim_node FROM deliveries INDEXED BY deliveries_claimed
       WHERE status = 'claimed' AND claim_node > ? ORDER BY claim_node LIMIT 1`,
      node,
    );
    return row?.claim_node ?? null;
  }

  #claimsOf(node: string, limit: number): readonly UnsettledAttempt[] {
    const rows = this.#queries.all<Row>(
      `SELECT * FROM deliveries INDEXED BY deliveries_claimed
       WHERE status = 'claimed' AND claim_node = ? LIMIT ?`,
      node,
      limit,
    );
    return rows.flatMap((row) => {
      const delivery = DELIVERY.from(row);
      const schedule = this.#scheduleOf(delivery);
      const isWhole = schedule !== null || delivery.scheduleId === null;
      return isWhole && isInFlight(delivery) ? [{ delivery, schedule }] : [];
    });
  }
}

/** A cache for one batch: several deliveries share a profile, a gate or a sweep. */
class Shared<Key extends string, Value> {
  readonly #read: (partition: Partition, key: Key) => Value;
  readonly #known = new Map<string, Value>();

  constructor(read: (partition: Partition, key: Key) => Value) {
    this.#read = read;
  }

  of(partition: Partition, key: Key): Value {
    const cacheKey = `${partition} ${key}`;
    const known = this.#known.get(cacheKey);
    if (known !== undefined) return known;
    const value = this.#read(partition, key);
    this.#known.set(cacheKey, value);
    return value;
  }
}
