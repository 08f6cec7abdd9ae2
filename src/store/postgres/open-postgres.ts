/** The store that several nodes share. Which connection carries what: see `connections.ts`. */
import type { Dialect, PlannedReads } from '#src/store/sql/dialect.ts';
import { makeSqlStore, type SqlStore } from '#src/store/sql/sql-store.ts';
import { type Connections, openConnections, type PostgresOptions } from './connections.ts';
import { DueReads } from './due-reads.ts';
import { FiringReads } from './firing-reads.ts';
import { INSIGHT_QUERIES } from './insight-queries.ts';
import { chosenByPlanner } from './placement.ts';
import { Reads } from './reads.ts';
import { SCANS } from './schedule-scans.ts';
import { verbs } from './verbs.ts';

export async function openPostgres(options: PostgresOptions): Promise<SqlStore> {
  return makeSqlStore(postgresDialect(await openConnections(options), options.timers));
}

function postgresDialect(connections: Connections, timers: PostgresOptions['timers']): Dialect {
  const { writers, pools, lease, placement } = connections;
  const dashboard = new Reads(pools.insight);
  return {
    verbs,
    readers: { api: pools.api, engine: pools.firing, insight: pools.insight, search: pools.search },
    writers,
    reads: plannedReads(connections),
    insight: {
      ...INSIGHT_QUERIES,
      oldestStats: placement.oldestStats,
      findSchedules: (...list) => dashboard.schedulesOf(...list),
    },
    scans: SCANS,
    timers,
    indexedBy: chosenByPlanner,
    longText: (column) => column,
    readClock: () => lease.readClock(),
    renewLease: (renewed) => lease.renewLease(renewed),
    // Runs a transaction that writes only its own number.
    check: async () => {
      await writers.api.run([]);
    },
    close: () => connections.close(),
  };
}

function plannedReads({ pools, payloads, placement }: Connections): PlannedReads {
  const reads = new Reads(pools.api);
  const firing = new FiringReads(pools.firing, placement);
  const due = new DueReads(placement.dueScans(pools.firing));
  return {
    listSchedules: (...list) => reads.schedules(...list),
    findSchedules: (...list) => reads.schedulesOf(...list),
    findPayload: (...key) => payloads.payload(...key),
    listDeliveries: (...list) => reads.deliveries(...list),
    listProfiles: (...list) => reads.profiles(...list),
    listDue: (...page) => due.list(...page),
    listWaitingCustomers: (...page) => due.customers(...page),
    listDueOfCustomers: (...page) => due.listOfCustomers(...page),
    loadDeliveries: (deliveries) => firing.load(deliveries),
    loadPayloads: (deliveries) => payloads.load(deliveries),
    listLostClaims: (...claims) => firing.lostClaims(...claims),
  };
}
