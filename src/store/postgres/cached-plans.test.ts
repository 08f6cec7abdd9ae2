/**
 * Cached plans are generic, and are made before the tables were analysed. Once the tables hold a few thousand rows,
 * every row must still be found by the whole key of its table.
 */
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { StatementName } from '#src/store/sql/hot-statements.ts';
import { systemTimers } from '#src/system/timers.ts';
import { addressOf } from '#test/postgres/contract-databases.ts';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { olderPostgres, sharedPostgres } from '#test/postgres/shared.ts';
import { START } from '#test/store-contract/builders.ts';
import { connect } from './connect.ts';
import { firingReads } from './firing-reads.ts';
import { arrayTypesOf } from './parameter-encoding.ts';
import { PayloadReads } from './payload-reads.ts';
import { ONE_SERVER } from './placement.ts';
import type { Reader } from './read-pool.ts';
import { migrate } from './schema-version.ts';
import { statements } from './statements.ts';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

const ROWS = 'generate_series(1, 5000) i';
const FILL = [
  `INSERT INTO schedules (partition, id, state, kind, header_names, payload_bytes, label_digests, metadata, pending_id,
     created_at, updated_at, revision)
   SELECT 1, 'sch_' || i, 'active', 'one_shot', '[]', 0, '', '[]', 'dlv_' || i, 1, 1, 1 FROM ${ROWS}`,
  `INSERT INTO deliveries (partition, id, schedule_id, status, occurrence, scheduled_for, due_at, reserved,
     attempt_count, idempotency_key, url, method, payload_bytes, retry_policy, created_at, revision, slot, endpoint_digest)
   SELECT 1, 'dlv_' || i, 'sch_' || i, 'scheduled', 1, 1, 1, 0, 0, 'key', 'https://a.example', 'POST', 0, '{}', 1, 1,
     1, 'key' FROM ${ROWS}`,
];

const STATEMENTS = statements(ONE_SERVER);
const PREPARED = (Object.keys(STATEMENTS) as StatementName[]).filter(
  (name) => STATEMENTS[name].scans === undefined,
);

/** The tables that a plan scans, each with its index. */
function scansOf(plan: Plan): readonly string[] {
  const below = (plan.Plans ?? []).flatMap(scansOf);
  const table = plan['Relation Name'];
  if (table === undefined || !plan['Node Type'].endsWith('Scan')) return below;
  return [`${table} by ${plan['Index Name'] ?? 'nothing'}`, ...below];
}

const servers = [
  ['18', await sharedPostgres()],
  ['an older one', await olderPostgres()],
] as const;

describe.for(servers.flatMap(([name, url]) => (url === undefined ? [] : [{ name, url }])))(
  'in a young database of PostgreSQL $name',
  ({ url }) => {
    let database: TestDatabase;
    let client: Client;
    let prepared = 0;
    beforeAll(async () => {
      database = await createDatabase(url);
      const options = { timers: systemTimers, cachesPlans: true };
      client = await connect(addressOf(database.url), options);
      await migrate(client, START, async () => undefined);
      for (const sql of FILL) await client.query(sql);
    });
    afterAll(async () => {
      await client.end();
      await database.drop();
    });

    async function scansIn(sql: string): Promise<readonly string[]> {
      const name = `prepared_${++prepared}`;
      await client.query(`PREPARE ${name} AS ${sql}`);
      const nulls = arrayTypesOf(sql).map(() => 'NULL');
      const execute = `EXECUTE ${name}${nulls.length === 0 ? '' : `(${nulls.join(', ')})`}`;
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `EXPLAIN (FORMAT JSON) ${execute}`,
      );
      return rows.flatMap((row) => scansOf(row['QUERY PLAN'][0].Plan));
    }

    test.for(PREPARED)('%s finds rows by whole keys', async (name) => {
      const { sql: own, lock } = STATEMENTS[name];
      for (const sql of [own, ...(lock === undefined ? [] : [lock.sql])]) {
        for (const scan of await scansIn(sql)) expect(scan).toMatch(/^(\w+) by \1_pkey$/);
      }
    });

    test('reads for every request find rows by whole keys', async () => {
      const sent: string[] = [];
      const lookUp = async <Row>(sql: string): Promise<readonly Row[]> => {
        sent.push(sql);
        return [];
      };
      const reader = { lookUp, lookUpValues: lookUp, query: lookUp } satisfies Reader;
      const payloads = new PayloadReads(reader, { read: async () => null }, ONE_SERVER);
      const delivery = { partition: 1 as Partition, id: 'dlv_1' as DeliveryId };
      await firingReads(reader, ONE_SERVER).loadDeliveries([delivery]);
      await payloads.load([
        { ...delivery, target: {} } as unknown as Parameters<typeof payloads.load>[0][number],
      ]);
      // A delivery that is not found with its schedule may be a notification.
      expect(sent).toHaveLength(3);
      for (const sql of sent) {
        for (const scan of await scansIn(sql)) expect(scan).toMatch(/^(\w+) by \1_pkey$/);
      }
    });
  },
);
