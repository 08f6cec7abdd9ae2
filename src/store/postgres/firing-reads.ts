/**
 * The queries of the engine on the way to a request. They run for every delivery, often many at a time and when it
 * is due. Each is one statement: a short index scan or a few look-ups by key.
 */
import { isInFlight } from '#src/domain/delivery.ts';
import type { FiringProfile } from '#src/domain/endpoint-profile.ts';
import type { Partition } from '#src/domain/project.ts';
import type { LoadedDelivery, Store, UnsettledAttempt } from '#src/ports/store.ts';
import { firingProfileAt, JOINED_DELIVERY, JOINED_FIRING_SCHEDULE } from '#src/store/sql/joined-rows.ts';
import type { Mapping, Row, Values } from '#src/store/sql/mapping.ts';
import {
  DELIVERY,
  FIRING_PROFILE_VERSION,
  FIRING_SCHEDULE,
  PROFILE_HEAD,
  readGate,
} from '#src/store/sql/rows.ts';
import { SWEEP } from '#src/store/sql/sweep-rows.ts';
import { decodeText } from './parameter-encoding.ts';
import { type PlacedText, type Placement, queryOf } from './placement.ts';
import type { Reader } from './read-pool.ts';

/** SQL: the present version of an endpoint profile, as a list of values. */
function profileOf(partition: string, id: string): string {
  return `(SELECT ${listOf([...under('p', PROFILE_HEAD), ...under('v', FIRING_PROFILE_VERSION)])} FROM endpoint_profiles p
          JOIN endpoint_profile_versions v ON v.partition = ${partition} AND v.endpoint_id = p.id AND v.version = p.version
          WHERE p.partition = ${partition} AND p.id = ${id}) AS profile`;
}

/** SQL: the state of the gate of a delivery `d`. */
function gateOf(partition: string): string {
  return `(SELECT g.state FROM gates g
          WHERE g.partition = ${partition} AND g.endpoint_digest = d.endpoint_digest) AS gate`;
}

/**
 * The endpoint profile, the sweep and the gate come by subqueries, because Citus takes twice as long to plan outer
 * joins. It has to see the partition in each of them.
 */
function loadQuery({ rowOf, tableText }: Placement): PlacedText {
  return tableText(['partition', 'id'], ({ table, value }) => {
    const partition = value('partition');
    return `SELECT ${JOINED_DELIVERY.columns}, ${JOINED_FIRING_SCHEDULE.columns},
        ${profileOf(partition, 's.endpoint_id')},
        (SELECT ${listOf(under('w', SWEEP))} FROM sweeps w
          WHERE w.partition = ${partition} AND w.schedule_id = d.schedule_id) AS sweep,
        ${gateOf(partition)}
      FROM ${table}
      ${rowOf('deliveries', 'd', `d.partition = ${partition} AND d.id = t.id`)}
      ${rowOf('schedules', 's', 's.partition = d.partition AND s.id = d.schedule_id')}`;
  });
}

/** A notification, which has no schedule. */
function notificationQuery({ rowOf, tableText }: Placement): PlacedText {
  return tableText(['partition', 'id'], ({ table, value }) => {
    const partition = value('partition');
    return `SELECT ${JOINED_DELIVERY.columns}, ${profileOf(partition, 'd.endpoint_id')}, ${gateOf(partition)}
      FROM ${table}
      ${rowOf('deliveries', 'd', `d.partition = ${partition} AND d.id = t.id`)}
      WHERE d.schedule_id IS NULL`;
  });
}

/** A profile that only the delivery names, because its schedule has another destination by now. */
function profileQuery({ rowOf, tableText }: Placement): PlacedText {
  return tableText(['partition', 'id'], ({ table, value }) => {
    const partition = value('partition');
    return `SELECT ${listOf([...under('p', PROFILE_HEAD), ...under('v', FIRING_PROFILE_VERSION)])} AS profile
      FROM ${table}
      ${rowOf('endpoint_profiles', 'p', `p.partition = ${partition} AND p.id = t.id`)}
      ${rowOf('endpoint_profile_versions', 'v', 'v.partition = p.partition AND v.endpoint_id = p.id AND v.version = p.version')}`;
  });
}

/**
 * Scans the index only between the names of living nodes, so their claims are not read. The condition must not suit
 * another index.
 */
function lostClaims(columns: string, condition: string, join = ''): string {
  return `SELECT ${columns} FROM (
      SELECT d.* FROM unnest($1::text[], $2::text[]) AS gap (after, before)
      JOIN deliveries d ON d.status = 'claimed' AND d.claim_node > gap.after AND d.claim_node < gap.before
      WHERE ${condition}
      LIMIT $3
    ) d
    ${join}`;
}

function lostClaimsQuery({ rowOf }: Placement): string {
  return lostClaims(
    `${JOINED_DELIVERY.columns}, ${JOINED_FIRING_SCHEDULE.columns}`,
    `coalesce(d.schedule_id, '') <> ''`,
    rowOf('schedules', 's', 's.partition = d.partition AND s.id = d.schedule_id'),
  );
}

const LOST_NOTIFICATIONS = lostClaims(JOINED_DELIVERY.columns, `coalesce(d.schedule_id, '') = ''`);

const BEFORE_EVERY_NAME = '';
const PAST_EVERY_NAME = '\u{10ffff}'.repeat(2);

export function firingReads(
  reader: Reader,
  placement: Placement,
): Pick<Store, 'loadDeliveries' | 'listLostClaims'> {
  const load = loadQuery(placement);
  const profile = profileQuery(placement);
  const notification = notificationQuery(placement);
  const lost = lostClaimsQuery(placement);

  const lookUp = async (text: PlacedText, keys: readonly Key[]): Promise<readonly Values[]> => {
    const pages = await Promise.all(
      placement.together(keys).map((some) => {
        const { sql, parameters } = queryOf(
          text,
          some.map(({ partition, id }) => [partition, id]),
        );
        return reader.lookUpValues(sql, ...parameters);
      }),
    );
    return pages.flat();
  };

  /** Nearly all deliveries go to the destination of their schedule, so this reads nothing for them. */
  const withEndpointProfiles = async (
    loaded: readonly LoadedDelivery[],
  ): Promise<readonly LoadedDelivery[]> => {
    const others = new Map<string, Key>();
    for (const one of loaded) {
      const key = otherProfileOf(one);
      if (key !== null) others.set(keyOf(key), key);
    }
    if (others.size === 0) return loaded;
    const found = new Map<string, FiringProfile>();
    for (const one of (await lookUp(profile, [...others.values()])).flatMap(profileIn))
      found.set(keyOf(one), one);
    return loaded.map((one) => {
      const key = otherProfileOf(one);
      return key === null ? one : { ...one, endpointProfile: found.get(keyOf(key)) ?? null };
    });
  };

  return {
    loadDeliveries: async (deliveries) => {
      const loaded = (await lookUp(load, deliveries)).flatMap(loadedIn);
      const found = new Map<string, LoadedDelivery>();
      for (const one of await withEndpointProfiles(loaded)) found.set(keyOf(one.delivery), one);
      // What has no schedule is a notification, or gone.
      const others = deliveries.filter((delivery) => !found.has(keyOf(delivery)));
      for (const one of (await lookUp(notification, others)).flatMap(notificationIn))
        found.set(keyOf(one.delivery), one);
      return deliveries.map((delivery) => found.get(keyOf(delivery)) ?? null);
    },
    listLostClaims: async (livingNodes, limit) => {
      const living = livingNodes.toSorted(byBytes);
      const after = [BEFORE_EVERY_NAME, ...living];
      const before = [...living, PAST_EVERY_NAME];
      const claims = await reader.query<Row>(lost, after, before, limit);
      const notifications = await reader.query<Row>(LOST_NOTIFICATIONS, after, before, limit);
      return [...claims, ...notifications].flatMap(lostClaimIn).slice(0, limit);
    },
  };
}

interface Key {
  readonly partition: Partition;
  readonly id: string;
}

function keyOf({ partition, id }: Key): string {
  return `${partition} ${id}`;
}

/** The profile that the delivery goes to, if it is not that of its schedule. */
function otherProfileOf({ delivery, profile }: LoadedDelivery): Key | null {
  const { partition, target } = delivery;
  const { endpointId } = target;
  return endpointId === null || endpointId === profile?.id ? null : { partition, id: endpointId };
}

const SCHEDULE_POSITION = DELIVERY.columns.length;
const PROFILE_POSITION = SCHEDULE_POSITION + FIRING_SCHEDULE.columns.length;
const SWEEP_POSITION = PROFILE_POSITION + 1;
const GATE_POSITION = SWEEP_POSITION + 1;

function loadedIn(values: Values): readonly LoadedDelivery[] {
  const delivery = DELIVERY.at(values, 0);
  const schedule = FIRING_SCHEDULE.at(values, SCHEDULE_POSITION);
  if (delivery === null || schedule === null) return [];
  const [profile = null] = profileIn([values[PROFILE_POSITION] ?? null]);
  const sweep = valuesIn(values[SWEEP_POSITION] as string | null);
  const gate = values[GATE_POSITION] as string | null;
  return [
    {
      delivery,
      schedule,
      profile,
      endpointProfile: delivery.target.endpointId === null ? null : profile,
      sweep: sweep === null ? null : SWEEP.at(sweep, 0),
      gate: gate === null ? null : readGate(gate),
    },
  ];
}

const NOTIFIED_PROFILE_POSITION = DELIVERY.columns.length;
const NOTIFICATION_GATE_POSITION = NOTIFIED_PROFILE_POSITION + 1;

function notificationIn(values: Values): readonly LoadedDelivery[] {
  const delivery = DELIVERY.at(values, 0);
  if (delivery === null) return [];
  const gate = values[NOTIFICATION_GATE_POSITION] as string | null;
  const [endpointProfile = null] = profileIn([values[NOTIFIED_PROFILE_POSITION] ?? null]);
  const none = { schedule: null, profile: null, sweep: null };
  return [{ delivery, ...none, endpointProfile, gate: gate === null ? null : readGate(gate) }];
}

function profileIn([list = null]: Values): readonly FiringProfile[] {
  const values = valuesIn(list as string | null);
  const profile = values === null ? null : firingProfileAt(values, 0);
  return profile === null ? [] : [profile];
}

/** SQL: these columns as the text of a JSON list. */
function listOf(columns: readonly string[]): string {
  return `json_build_array(${columns.join(', ')})::text`;
}

function under(alias: string, { columns }: Pick<Mapping<never>, 'columns'>): readonly string[] {
  return columns.map((column) => `${alias}.${column}`);
}

/** The values of such a list. */
function valuesIn(list: string | null): Values | null {
  if (list === null) return null;
  const values = JSON.parse(list) as Values;
  return values.map((value) => (typeof value === 'string' ? decodeText(value) : value));
}

function lostClaimIn(row: Row): readonly UnsettledAttempt[] {
  const delivery = JOINED_DELIVERY.find(row);
  if (delivery === null || !isInFlight(delivery)) return [];
  return [{ delivery, schedule: delivery.scheduleId === null ? null : JOINED_FIRING_SCHEDULE.from(row) }];
}

/** The database compares names by their bytes. */
function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
