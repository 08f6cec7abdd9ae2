/** Reads all data of some partitions through the ports, so that a test can check that nothing has changed. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { Gate } from '#src/domain/gate.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import type { ApiKey, ControlStore, EndpointSecret, SigningSecret } from '#src/ports/control-store.ts';
import type { DeliveryFilter, Listed, ListFilter, Page, ScheduleSearch } from '#src/ports/lists.ts';
import type { Receipt, Store } from '#src/ports/store.ts';

export const ALL_SCHEDULES = { state: null, kind: null, labels: [] } as const satisfies ListFilter;
/** A search that finds all schedules. */
export const ANY_SCHEDULES = {
  ...ALL_SCHEDULES,
  destination: null,
  hidesQueries: false,
} as const satisfies ScheduleSearch;
export const ALL_DELIVERIES: DeliveryFilter = {
  status: null,
  scheduleId: null,
  createdAfter: null,
  createdBefore: null,
};

const PAGE_ROWS = 100;
const ATTEMPTS_MAX = 1_000;
/** This instant is before the end of every receipt, so that expired ones are read too. */
const BEFORE_EVERY_END: Instant = instant(0);

export interface Everything {
  readonly schedules: readonly ScheduleView[];
  readonly payloads: readonly (string | null)[];
  readonly deliveries: readonly Delivery[];
  readonly attempts: readonly Attempt[];
  /** The gate of each delivery's endpoint. */
  readonly gates: readonly (Gate | null)[];
  readonly profiles: readonly EndpointProfile[];
  readonly profileHeaders: readonly (string | null)[];
  readonly receipts: readonly (Receipt | null)[];
  readonly keys: readonly ApiKey[];
  readonly secrets: readonly SigningSecret[];
  readonly endpointSecrets: readonly EndpointSecret[];
}

/** Reads every row of a list, page by page. */
export async function allPages<Row, Id extends string>(
  list: (page: Page<Id>) => Promise<readonly Row[]>,
  idOf: (row: Row) => Id,
  limit: number = PAGE_ROWS,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let before: Id | null = null; ; ) {
    const page: readonly Row[] = await list({ before, limit });
    rows.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return rows;
    before = idOf(last);
  }
}

/** The same for a list whose pages may be short. */
export async function allListed<Row, Id extends string>(
  list: (page: Page<Id>) => Promise<Listed<Row>>,
  idOf: (row: Row) => Id,
  limit: number = PAGE_ROWS,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let before: Id | null = null; ; ) {
    const { items, hasMore }: Listed<Row> = await list({ before, limit });
    rows.push(...items);
    const last = items.at(-1);
    if (last === undefined || !hasMore) return rows;
    before = idOf(last);
  }
}

export async function readEverything(
  store: Store & ControlStore,
  partition: Partition,
  receiptKeys: Iterable<string>,
): Promise<Everything> {
  const schedules = await allListed(
    (page) => store.listSchedules(partition, ALL_SCHEDULES, page),
    ({ schedule }: ScheduleView) => schedule.id,
  );
  const deliveries = await allPages(
    (page) => store.listDeliveries(partition, ALL_DELIVERIES, page),
    ({ id }: Delivery) => id,
  );
  const profiles = await allListed(
    (page) => store.listProfiles(partition, true, page),
    ({ id }: EndpointProfile) => id,
  );
  const versions = profiles.flatMap(({ id, version }) =>
    Array.from({ length: version }, (_, index) => ({ id, version: index + 1 })),
  );
  return {
    schedules,
    payloads: await mapped(schedules, async ({ schedule }) =>
      hex(await store.findPayload(partition, schedule.id, schedule.payloadVersion)),
    ),
    deliveries,
    attempts: (
      await mapped(deliveries, ({ id }) => store.listAttempts(partition, id, 0, ATTEMPTS_MAX))
    ).flat(),
    gates: (await store.loadDeliveries(deliveries)).map((loaded) => loaded?.gate ?? null),
    profiles,
    profileHeaders: await mapped(versions, async ({ id, version }) =>
      hex(await store.findProfileHeaders(partition, id, version)),
    ),
    receipts: await mapped([...receiptKeys], (key) => store.findReceipt(partition, key, BEFORE_EVERY_END)),
    keys: await store.listKeys(partition),
    secrets: await store.listSecrets(partition, BEFORE_EVERY_END),
    endpointSecrets: (
      await mapped(profiles, ({ id }) => store.listEndpointSecrets(partition, id, BEFORE_EVERY_END))
    ).flat(),
  };
}

function mapped<Row, Result>(
  rows: readonly Row[],
  read: (row: Row) => Promise<Result>,
): Promise<readonly Result[]> {
  return Promise.all(rows.map(read));
}

export function hex(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('hex');
}
