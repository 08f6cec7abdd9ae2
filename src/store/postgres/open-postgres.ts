/** The store that several nodes share. Which connection carries what: see `connections.ts`. */
import type { Dialect, PlannedReads } from '#src/store/sql/dialect.ts';
import { LabelSearch } from '#src/store/sql/label-search.ts';
import { makeSqlStore, type SqlStore } from '#src/store/sql/sql-store.ts';
import { type Connections, openConnections, type PostgresOptions } from './connections.ts';
import { DueReads } from './due-reads.ts';
import { FiringReads } from './firing-reads.ts';
import { PostgresInsight } from './postgres-insight.ts';
import { Reads } from './reads.ts';
import { RETENTION_QUERIES } from './retention-queries.ts';
import { labelScans } from './schedule-scans.ts';
import { verbs } from './verbs.ts';

export async function openPostgres(options: PostgresOptions): Promise<SqlStore> {
  return makeSqlStore(postgresDialect(await openConnections(options), options.timers));
}

function postgresDialect(connections: Connections, timers: PostgresOptions['timers']): Dialect {
  const { writers, pools, lease, placement } = connections;
  return {
    verbs,
    readers: { api: pools.api, engine: pools.firing },
    writers,
    reads: plannedReads(connections, new LabelSearch(labelScans(pools.search), timers)),
    insight: new PostgresInsight({ ...pools, ...writers, placement }),
    retention: RETENTION_QUERIES,
    readClock: () => lease.readClock(),
    renewLease: (renewed) => lease.renewLease(renewed),
    // Runs a transaction that writes only its own number.
    check: async () => {
      await writers.api.run([]);
    },
    close: () => connections.close(),
  };
}

function plannedReads({ pools, payloads, placement }: Connections, search: LabelSearch): PlannedReads {
  const reads = new Reads(pools.api);
  const firing = new FiringReads(pools.firing, placement);
  const due = new DueReads(placement.dueScans(pools.firing));
  return {
    findSchedule: (...key) => reads.schedule(...key),
    listSchedules: (...list) => reads.schedules(...list),
    findSchedules: (...list) => reads.schedulesOf(...list),
    searchSchedules: (...list) => search.find(...list),
    findPayload: (...key) => payloads.payload(...key),
    listDeliveries: (...list) => reads.deliveries(...list),
    findProfile: (...key) => reads.profile(...key),
    listProfiles: (...list) => reads.profiles(...list),
    listDue: (...page) => due.list(...page),
    listWaitingCustomers: (...page) => due.customers(...page),
    listDueOfCustomers: (...page) => due.listOfCustomers(...page),
    loadDeliveries: (deliveries) => firing.load(deliveries),
    loadPayloads: (deliveries) => payloads.load(deliveries),
    listLostClaims: (...claims) => firing.lostClaims(...claims),
  };
}
