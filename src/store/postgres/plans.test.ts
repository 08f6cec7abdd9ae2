/**
 * How PostgreSQL finds the rows of every query of the store, on tables that mislead the planner: one customer has
 * most rows, and another has one label on all schedules. Every table must be read by an index. A page must cost the
 * same for a plan made for its values and for a generic plan.
 */
import { Client, types } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { ALL_SLOTS, type Slot } from '#src/domain/slot.ts';
import { endpointDigest, labelBytes } from '#src/store/sql/digests.ts';
import type { Values } from '#src/store/sql/mapping.ts';
import { controlReads } from '#src/store/sql/reads.ts';
import { makeVerbs } from '#src/store/sql/verbs.ts';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { olderPostgres, sharedPostgres } from '#test/postgres/shared.ts';
import { START } from '#test/store-contract/builders.ts';
import {
  DELIVERY,
  ENDPOINT,
  ITEM_ENDPOINT,
  LABELLED,
  LARGE,
  listCases,
  PLAN_CASES,
  readsOf,
  SCHEDULE,
} from '#test/store-plans.ts';
import { CITUS } from './citus.ts';
import { dueReads } from './due-reads.ts';
import { firingReads } from './firing-reads.ts';
import { LargePayloads } from './large-payloads.ts';
import type { SqlValue } from './parameter-encoding.ts';
import { PayloadReads } from './payload-reads.ts';
import { ONE_SERVER } from './placement.ts';
import type { Reader } from './read-pool.ts';
import { migrate } from './schema-version.ts';
import { SYNTAX } from './syntax.ts';
import { keyParameters } from './verbs.ts';

function readsIn(reader: Reader) {
  const { oldestStats } = ONE_SERVER;
  return readsOf({ reader, syntax: SYNTAX, oldestStats, verbs: makeVerbs(keyParameters) });
}

const BATCH = 20;

const SIZES = '(SELECT p, CASE WHEN p = 1 THEN 12000 ELSE 200 END AS n FROM generate_series(1, 21) p) t';
const SCHEDULE_ID = "'sch_' || lpad(i::text, 8, '0')";
const DELIVERY_ID = "'dlv_' || lpad(i::text, 8, '0')";

const NO_LARGE = { read: async () => null };

/** In a hundred deliveries one waits, one is claimed and one is dead-lettered. */
const FILL = [
  `INSERT INTO schedules (partition, id, state, kind, endpoint_id, header_names, payload_bytes, label_digests,
     metadata, pending_id, created_at, updated_at, ended_at, revision)
   SELECT p, ${SCHEDULE_ID}, CASE WHEN i % 100 = 0 THEN 'active' ELSE 'completed' END,
     CASE WHEN i % 10 = 0 THEN 'recurring' ELSE 'one_shot' END, 'ep_' || i % 50, '[]', 0, '', '[]', ${DELIVERY_ID},
     i, i, CASE WHEN i % 100 > 0 THEN i END, 1
   FROM ${SIZES}, generate_series(1, n) i`,
  `INSERT INTO deliveries (partition, id, schedule_id, status, occurrence, scheduled_for, due_at, reserved,
     attempt_count, idempotency_key, url, method, endpoint_id, endpoint_version, payload_bytes,
     retry_policy, claim_node,
     claim_attempt_id, claim_due_at, claim_fired_at, created_at, finalized_at, revision, slot, endpoint_digest)
   SELECT p, ${DELIVERY_ID}, ${SCHEDULE_ID},
     CASE i % 100 WHEN 0 THEN 'scheduled' WHEN 1 THEN 'claimed' WHEN 2 THEN 'dead_letter' ELSE 'succeeded' END,
     i, i, CASE WHEN i % 100 = 0 THEN i END, 0, 1, 'key', 'https://a.example', 'POST', 'ep_' || i % 50, 1, 0, '{}',
     CASE WHEN i % 100 = 1 THEN 'node-' || i / 100 % 3 END, CASE WHEN i % 100 = 1 THEN 'att' END,
     CASE WHEN i % 100 = 1 THEN i END, CASE WHEN i % 100 = 1 THEN i END,
     i, CASE WHEN i % 100 > 1 THEN i END, 1, i / 100 % 256, 'key-' || i % 50
   FROM ${SIZES}, generate_series(1, n) i`,
  `INSERT INTO attempts (partition, delivery_id, attempt_no, id, outcome, due_at, fired_at, finished_at, egress_ms,
     endpoint_id)
   SELECT partition, id, 1, 'att', CASE WHEN status = 'dead_letter' THEN 'retryable' ELSE 'success' END, 1, 1,
     scheduled_for, 0, endpoint_id FROM deliveries`,
  `INSERT INTO payloads (partition, schedule_id, sealed) SELECT partition, id, '' FROM schedules`,
  `INSERT INTO endpoint_profiles (partition, id, version, archived, created_at, updated_at, revision)
   SELECT p, 'ep_' || i, 1, i % 2, 1, 1, 1 FROM generate_series(1, 21) p, generate_series(0, 499) i`,
  `INSERT INTO endpoint_profile_versions (partition, endpoint_id, version, url, method, header_names, retry_policy, metadata)
   SELECT p, 'ep_' || i, v, '', 'POST', '[]', '{}', '[]'
   FROM generate_series(1, 21) p, generate_series(0, 499) i, generate_series(1, 2) v`,
  `INSERT INTO gates (partition, endpoint_digest, endpoint, state, saved_at)
   SELECT p, 'key-' || i, '', CASE WHEN i < 2 THEN '{}' ELSE '{"openUntil":null}' END, i
   FROM generate_series(1, 21) p, generate_series(0, 99) i`,
  `INSERT INTO endpoint_stats (partition, endpoint_digest, at, node, endpoint, counts)
   SELECT p, 'key-' || i, at, '', '', '' FROM generate_series(1, 21) p, generate_series(0, 99) i, generate_series(1, 20) at`,
  `INSERT INTO receipts (partition, key, fingerprint, status_code, body, created_at, expires_at)
   SELECT p, 'key-' || i, '', 200, '', i, i FROM generate_series(1, 21) p, generate_series(0, 199) i`,
  `INSERT INTO replay_jobs (partition, id, state, filter, gathered, replayed, skipped, expected, created_by,
     created_at, updated_at, ended_at, cursor, revision)
   SELECT p, 'job_' || lpad(i::text, 3, '0'), CASE WHEN i = 1 THEN 'running' ELSE 'stopped' END, '{}', 0, 0, 0, 0, '',
     i, i, CASE WHEN i > 1 THEN i END, CASE WHEN i < 3 THEN '' END, 1
   FROM generate_series(1, 21) p, generate_series(1, 200) i`,
  `INSERT INTO replay_items (partition, job_id, endpoint_digest, delivery_id, endpoint)
   SELECT p, 'job_001', CASE i % 5 WHEN 0 THEN '${endpointDigest(ITEM_ENDPOINT)}' ELSE 'key-' || i % 5 END, ${DELIVERY_ID}, ''
   FROM ${SIZES}, generate_series(1, n) i`,
  `INSERT INTO replay_items (partition, job_id, endpoint_digest, delivery_id, endpoint)
   SELECT p, 'job_002', 'key-1', ${DELIVERY_ID}, '' FROM ${SIZES}, generate_series(1, n) i`,
  `INSERT INTO alert_channels (partition, id, kind, name, sealed_url, shown_url, created_at, updated_at, revision)
   SELECT p, 'chn_' || lpad(i::text, 3, '0'), 'slack', '', '', '', 1, 1, 1
   FROM generate_series(1, 200) p, generate_series(1, 20) i`,
  `INSERT INTO alert_conditions (partition, id, kind, channel_ids, enabled, created_at, updated_at, revision)
   SELECT p, 'alc_' || lpad(i::text, 3, '0'), 'breaker_opened', '[]', 1, 1, 1, 1
   FROM generate_series(1, 200) p, generate_series(1, 20) i`,
  `INSERT INTO alert_incidents (partition, id, condition_id, begun_at, ended_at, detail, revision, endpoint_digest)
   SELECT p, 'inc_' || lpad(i::text, 3, '0'), 'alc_' || i, i, CASE WHEN i > 2 THEN i END, '{}', 1, ''
   FROM generate_series(1, 21) p, generate_series(1, 200) i`,
  `INSERT INTO alert_messages (partition, id, incident_id, channel_id, kind, content, status, attempt_count, due_at,
     created_at, ended_at, revision)
   SELECT p, ${DELIVERY_ID}, 'inc_' || lpad((i % 50)::text, 3, '0'), 'chn_001', 'opened', '{}',
     CASE WHEN i < 6 THEN 'waiting' ELSE 'delivered' END, 1, CASE WHEN i < 6 THEN i END, i,
     CASE WHEN i > 1990 THEN i WHEN i >= 6 THEN 8e15 END, 1
   FROM generate_series(1, 21) p, generate_series(1, 2000) i`,
];

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Plan[];
}

function everyNode(plan: Plan): readonly Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(everyNode)];
}

const LOOKS_FOR_ROWS = /Scan$/;
/** Nodes that scan results of other nodes, or no table. */
const NOT_IN_A_TABLE = /^(Subquery|Function|CTE|WorkTable) Scan$/;

function scans(plans: readonly Plan[]): readonly Plan[] {
  const all = plans.flatMap(everyNode).map((node) => ({ node, type: node['Node Type'] }));
  return all
    .filter(({ type }) => LOOKS_FOR_ROWS.test(type) && !NOT_IN_A_TABLE.test(type))
    .map(({ node }) => node);
}

/** The indexes of a plan, each once. */
function indexesOf(plans: readonly Plan[]): readonly string[] {
  const names = scans(plans).flatMap((node) =>
    node['Node Type'] === 'Bitmap Heap Scan'
      ? []
      : [node['Index Name'] ?? `the whole of ${node['Relation Name']}`],
  );
  return [...new Set(names)].toSorted();
}

/** How many rows or index entries a plan read. */
function rowsOf(plans: readonly Plan[]): number {
  let rows = 0;
  for (const node of scans(plans)) {
    const passedOver = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
    rows += (node['Actual Rows'] + passedOver) * node['Actual Loops'];
  }
  return rows;
}

class Explainer implements Reader {
  readonly plans: Plan[] = [];
  readonly #client: Client;
  static #statements = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  lookUp<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.query(sql, ...parameters);
  }

  async lookUpValues(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Values[]> {
    return (await this.query<object>(sql, ...parameters)).map((row) => Object.values(row));
  }

  async query<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    const name = `plan_${++Explainer.#statements}`;
    await this.#client.query(`PREPARE ${name} AS ${sql}`);
    const values = parameters.length === 0 ? '' : `(${parameters.map(literal).join(', ')})`;
    const explain = 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)';
    const { rows } = await this.#client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `${explain} EXECUTE ${name}${values}`,
    );
    for (const row of rows) this.plans.push(row['QUERY PLAN'][0].Plan);
    return (await this.#client.query(`EXECUTE ${name}${values}`)).rows as Row[];
  }
}

function literal(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return `'${value}'`;
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString('hex')}'::bytea`;
  return value.length === 0 ? "'{}'" : `ARRAY[${value.map(literal).join(', ')}]`;
}

const TARGET = { endpointId: ENDPOINT, endpointVersion: 1 };

const servers = [
  ['18', await sharedPostgres()],
  ['an older one', await olderPostgres()],
] as const;

describe.for(servers.flatMap(([name, url]) => (url === undefined ? [] : [{ name, url }])))(
  'on PostgreSQL $name',
  ({ url }) => {
    let database: TestDatabase;
    let client: Client;
    beforeAll(async () => {
      database = await createDatabase(url);
      client = new Client({ connectionString: database.url });
      client.setTypeParser(types.builtins.INT8, Number);
      await client.connect();
      await migrate(client, START, async () => undefined);
      for (const sql of FILL) await client.query(sql);
      for (const [[[name, value]], condition] of LABELLED) {
        await client.query(
          `INSERT INTO schedule_labels (partition, digest, state, kind, schedule_id)
           SELECT partition, $1, state, kind, id FROM schedules WHERE ${condition}`,
          [labelBytes(name, value)],
        );
      }
      await client.query('VACUUM ANALYZE');
      // The planner prefers to read small tables as a whole. The test is about large ones.
      await client.query('SET enable_seqscan = off');
    });
    afterAll(async () => {
      await client.end();
      await database.drop();
    });

    describe.for(['force_custom_plan', 'force_generic_plan'])('%s', (mode) => {
      beforeAll(() => client.query(`SET plan_cache_mode = ${mode}`));

      async function plansOf(run: (reader: Reader) => Promise<unknown>): Promise<readonly Plan[]> {
        const explainer = new Explainer(client);
        await run(explainer);
        return explainer.plans;
      }

      /** Expects one statement that uses these indexes and reads no more rows than a page needs. */
      async function expectScan(
        run: (reader: Reader) => Promise<unknown>,
        indexes: readonly string[],
        rowsMax: number,
        queries = 1,
      ): Promise<void> {
        const plans = await plansOf(run);
        expect(plans).toHaveLength(queries);
        expect(indexesOf(plans)).toEqual(indexes.toSorted());
        expect(rowsOf(plans)).toBeLessThanOrEqual(rowsMax);
      }

      it.for([...listCases(SYNTAX), ...PLAN_CASES])('%s', async ([, read, indexes, rowsMax]) => {
        const plans = await plansOf((reader) => read(readsIn(reader)));
        const names = new Set(indexes.map((index) => index.replace(/\(.*/, '')));
        expect(indexesOf(plans)).toEqual([...names].toSorted());
        expect(rowsOf(plans)).toBeLessThanOrEqual(rowsMax);
      });

      it('due deliveries from the cursor on', async () => {
        const after = { dueAt: instant(100), id: DELIVERY };
        const plans = await plansOf((reader) =>
          dueReads(ONE_SERVER.dueScans(reader)).listDue(after, START, BATCH),
        );
        expect(indexesOf(plans)).toEqual(['deliveries_due_of_slot']);
        expect(rowsOf(plans)).toBeLessThanOrEqual(10 * BATCH);
      });

      it('customers, and the due deliveries of some, without reading those of others', async () => {
        const due = (slots: ReadonlySet<Slot>) =>
          plansOf(async (reader) => {
            const reads = dueReads(ONE_SERVER.dueScans(reader));
            const customers = await reads.listWaitingCustomers(null, START, BATCH, slots);
            const small = customers.filter(({ partition }) => partition !== LARGE);
            await reads.listDueOfCustomers(small, START, 2, slots);
          });
        const held = await due(new Set(ALL_SLOTS.filter((slot) => slot % 2 === 0)));
        expect(indexesOf(held)).toEqual(['deliveries_due_of_slot_and_partition']);
        expect(rowsOf(held)).toBeLessThanOrEqual(10 * BATCH);
        const idle = await due(new Set(ALL_SLOTS.filter((slot) => slot > 200)));
        expect(indexesOf(idle)).toEqual(['deliveries_due_of_slot_and_partition']);
        expect(rowsOf(idle)).toBe(0);
      });

      it('due deliveries of some slots, without reading other slots', async () => {
        const due = (slots: ReadonlySet<Slot>) =>
          plansOf((reader) => dueReads(ONE_SERVER.dueScans(reader)).listDue(null, START, BATCH, slots));
        const held = await due(new Set(ALL_SLOTS.filter((slot) => slot % 2 === 0)));
        expect(indexesOf(held)).toEqual(['deliveries_due_of_slot']);
        expect(rowsOf(held)).toBeLessThanOrEqual(10 * BATCH);
        const idle = await due(new Set(ALL_SLOTS.filter((slot) => slot > 200)));
        expect(idle).toHaveLength(1);
        expect(indexesOf(idle)).toEqual(['deliveries_due_of_slot']);
        expect(rowsOf(idle)).toBe(0);
      });

      it.for([
        ['one server', ONE_SERVER, 1],
        ['Citus', CITUS, 4],
      ] as const)(
        'what belongs to deliveries by look-ups, with the queries for %s',
        async ([, placement, queries]) => {
          const wanted = Array.from({ length: BATCH }, (_, index) => ({
            partition: (1 + (index % 4)) as Partition,
            id: `dlv_${String(1 + index).padStart(8, '0')}` as DeliveryId,
          }));
          await expectScan(
            async (reader) => {
              const work = await firingReads(reader, placement).loadDeliveries(wanted);
              expect(work.map((one) => one?.delivery.id)).toEqual(wanted.map(({ id }) => id));
            },
            [
              'deliveries_pkey',
              'endpoint_profile_versions_pkey',
              'endpoint_profiles_pkey',
              'gates_pkey',
              'schedules_pkey',
              'sweeps_pkey',
            ],
            6 * BATCH,
            queries,
          );
        },
      );

      it('the payload of a delivery by look-ups', async () => {
        const delivery = {
          partition: LARGE,
          scheduleId: SCHEDULE,
          payloadVersion: 1,
          target: TARGET,
        } as Delivery;
        const payload = (reader: Reader) => new PayloadReads(reader, NO_LARGE, ONE_SERVER).load([delivery]);
        await expectScan(payload, ['endpoint_profile_versions_pkey', 'payloads_pkey'], 2);
      });

      it('a large payload by look-up', async () => {
        const payload = (reader: Reader) =>
          new LargePayloads(
            {
              copyOut: async (sql) => {
                await reader.query(sql);
                return null;
              },
            },
            false,
          ).read(LARGE, SCHEDULE, 1);
        await expectScan(payload, ['earlier_payloads_pkey', 'payloads_pkey'], 1, 2);
      });

      it('lost claims by the index of claims', async () => {
        const lost = (living: readonly string[]) =>
          plansOf((reader) => firingReads(reader, ONE_SERVER).listLostClaims(living, BATCH));
        const indexes = ['deliveries_claimed', 'schedules_pkey'];
        for (const living of [['node-0', 'node-1', 'node-2'], ['node-2', 'node-0'], []]) {
          expect(indexesOf(await lost(living))).toEqual(indexes);
        }
      });

      it('the items of an ended replay job', async () => {
        const plans = await plansOf((reader) => readsIn(reader).jobs.pruneJobs(START, 10));
        expect(indexesOf(plans)).toEqual(['replay_items_pkey', 'replay_jobs_with_items']);
        expect(rowsOf(plans)).toBeLessThanOrEqual(11);
      });

      it('the control plane by look-ups, except the list of projects', async () => {
        const plans = await plansOf(async (reader) => {
          const control = controlReads(reader);
          await control.findProject('name');
          await control.listKeys(LARGE);
          await control.findTenant('hash');
          await control.listSecrets(LARGE, START);
          await control.findStandardProfile(LARGE);
        });
        expect(indexesOf(plans).filter((index) => index.startsWith('the whole'))).toEqual([]);
      });
    });
  },
);
