/** The store that several nodes share. Which connection carries what: see `connections.ts`. */
import type { Dialect } from '#src/store/sql/dialect.ts';
import { makeSqlStore, type SqlStore } from '#src/store/sql/sql-store.ts';
import { type Connections, openConnections, type PostgresOptions } from './connections.ts';
import { dueReads } from './due-reads.ts';
import { firingReads } from './firing-reads.ts';
import { refuseOlderPrograms } from './schema-version.ts';
import { SYNTAX } from './syntax.ts';
import { verbs } from './verbs.ts';

/** Counting more rows than this would take too long. */
const DUE_ROWS_MAX = 20_000;

export async function openPostgres(options: PostgresOptions): Promise<SqlStore> {
  return makeSqlStore(postgresDialect(await openConnections(options), options.timers));
}

function postgresDialect(connections: Connections, timers: PostgresOptions['timers']): Dialect {
  const { writers, pools, payloads, lease, placement } = connections;
  return {
    verbs,
    readers: { api: pools.api, engine: pools.firing, insight: pools.insight, search: pools.search },
    writers,
    reads: {
      ...dueReads(placement.dueScans(pools.firing)),
      worksByCustomer: placement.worksByCustomer,
      ...firingReads(pools.firing, placement),
      findPayload: (...key) => payloads.payload(...key),
      loadPayloads: (deliveries) => payloads.load(deliveries),
    },
    syntax: SYNTAX,
    dueRowsMax: DUE_ROWS_MAX,
    oldestStats: placement.oldestStats,
    timers,
    readClock: () => lease.readClock(),
    renewLease: (renewed) => lease.renewLease(renewed),
    refuseOlderPrograms: (since) => refuseOlderPrograms(pools.api, since),
    // Runs a transaction that writes only its own number.
    check: async () => {
      await writers.api.run([]);
    },
    close: () => connections.close(),
  };
}
