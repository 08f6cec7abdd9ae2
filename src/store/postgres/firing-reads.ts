/**
 * The queries of the engine on the way to a request. They run for every delivery, often many at a time and when it
 * is due. Each is one statement: a short index scan or a few look-ups by key.
 */
import { isInFlight } from '#src/domain/delivery.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { FiringProfile } from '#src/domain/endpoint-profile.ts';
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

/**
 * The endpoint profile, the sweep and the gate come by subqueries, because Citus takes twice as long to plan outer
 * joins. It has to see the partition in each of them.
 */
function loadQuery({ rowOf, tableText }: Placement): PlacedText {
  return tableText(['partition', 'id'], ({ table, value }) => {
    const partition = value('partition');
    const profileOf = (id: string) =>
      `(SELECT ${listOf([...under('p', PROFILE_HEAD), ...under('v', FIRING_PROFILE_VERSION)])} FROM endpoint_profiles p
          JOIN endpoint_profile_versions v ON v.partition = ${partition} AND v.endpoint_id = p.id AND v.version = p.version
          WHERE p.partition = ${partition} AND p.id = ${id})`;
    return `SELECT ${JOINED_DELIVERY.columns}, ${JOINED_FIRING_SCHEDULE.columns}, ${profileOf('s.endpoint_id')} AS profile,
        CASE WHEN d.endpoint_id <> coalesce(s.endpoint_id, '') THEN ${profileOf('d.endpoint_id')} END AS other_profile,
        (SELECT ${listOf(under('w', SWEEP))} FROM sweeps w
          WHERE w.partition = ${partition} AND w.schedule_id = d.schedule_id) AS sweep,
        (SELECT g.state FROM gates g
          WHERE g.partition = ${partition} AND g.endpoint_digest = d.endpoint_digest) AS gate
      FROM ${table}
      ${rowOf('deliveries', 'd', `d.partition = ${partition} AND d.id = t.id`)}
      ${rowOf('schedules', 's', 's.partition = d.partition AND s.id = d.schedule_id')}`;
  });
}

/** Scans the index only between the names of living nodes, so their claims are not read. */
function lostClaimsQuery({ rowOf }: Placement): string {
  return `SELECT ${JOINED_DELIVERY.columns}, ${JOINED_FIRING_SCHEDULE.columns} FROM (
      SELECT d.* FROM unnest($1::text[], $2::text[]) AS gap (after, before)
      JOIN deliveries d ON d.status = 'claimed' AND d.claim_node > gap.after AND d.claim_node < gap.before
      LIMIT $3
    ) d
    ${rowOf('schedules', 's', 's.partition = d.partition AND s.id = d.schedule_id')}`;
}

const BEFORE_EVERY_NAME = '';
const PAST_EVERY_NAME = '\u{10ffff}'.repeat(2);

export function firingReads(
  reader: Reader,
  placement: Placement,
): Pick<Store, 'loadDeliveries' | 'listLostClaims'> {
  const load = loadQuery(placement);
  const lostClaims = lostClaimsQuery(placement);
  return {
    loadDeliveries: async (deliveries) => {
      const pages = await Promise.all(
        placement.together(deliveries).map((some) => {
          const { sql, parameters } = queryOf(
            load,
            some.map(({ partition, id }) => [partition, id]),
          );
          return reader.lookUpValues(sql, ...parameters);
        }),
      );
      const found = new Map<string, LoadedDelivery>();
      for (const loaded of pages.flat().flatMap(loadedIn)) found.set(keyOf(loaded.delivery), loaded);
      return deliveries.map((delivery) => found.get(keyOf(delivery)) ?? null);
    },
    listLostClaims: async (livingNodes, limit) => {
      const living = livingNodes.toSorted(byBytes);
      const after = [BEFORE_EVERY_NAME, ...living];
      const before = [...living, PAST_EVERY_NAME];
      return (await reader.query<Row>(lostClaims, after, before, limit)).flatMap(lostClaimIn);
    },
  };
}

function keyOf({ partition, id }: Pick<DueDelivery, 'partition' | 'id'>): string {
  return `${partition} ${id}`;
}

const SCHEDULE_POSITION = DELIVERY.columns.length;
const PROFILE_POSITION = SCHEDULE_POSITION + FIRING_SCHEDULE.columns.length;
const OTHER_PROFILE_POSITION = PROFILE_POSITION + 1;
const SWEEP_POSITION = OTHER_PROFILE_POSITION + 1;
const GATE_POSITION = SWEEP_POSITION + 1;

function loadedIn(values: Values): readonly LoadedDelivery[] {
  const delivery = DELIVERY.at(values, 0);
  const schedule = FIRING_SCHEDULE.at(values, SCHEDULE_POSITION);
  if (delivery === null || schedule === null) return [];
  const profile = profileIn(values[PROFILE_POSITION]);
  const { endpointId } = delivery.target;
  const sweep = valuesIn(values[SWEEP_POSITION] as string | null);
  const gate = values[GATE_POSITION] as string | null;
  return [
    {
      delivery,
      schedule,
      profile,
      endpointProfile: endpointId === profile?.id ? profile : profileIn(values[OTHER_PROFILE_POSITION]),
      sweep: sweep === null ? null : SWEEP.at(sweep, 0),
      gate: gate === null ? null : readGate(gate),
    },
  ];
}

function profileIn(list: Values[number] | undefined): FiringProfile | null {
  const values = valuesIn(list as string | null);
  return values === null ? null : firingProfileAt(values, 0);
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
  const schedule = JOINED_FIRING_SCHEDULE.find(row);
  if (delivery === null || schedule === null || !isInFlight(delivery)) return [];
  return [{ delivery, schedule }];
}

/** The database compares names by their bytes. */
function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
