/** The store, for every database that speaks SQL: which verb runs on which writer, and which query on which reader. */
import type { AlertStore } from '#src/ports/alert-store.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { PeopleStore } from '#src/ports/people-store.ts';
import type { ReplayJobStore } from '#src/ports/replay-job-store.ts';
import type { Store } from '#src/ports/store.ts';
import type { SealedStore } from '#src/ports/vault.ts';
import { SqlAlerts } from './alerts.ts';
import { cluster } from './cluster.ts';
import { control } from './control.ts';
import type { Dialect, SqlReader, SqlWriter } from './dialect.ts';
import { lists } from './lists.ts';
import { maintenance } from './maintenance.ts';
import { notificationReads } from './notification-reads.ts';
import { SqlPeople } from './people.ts';
import { keyedReads } from './reads.ts';
import { SqlReplayJobs } from './replay-jobs.ts';
import { Retention } from './retention.ts';
import { SqlSealed } from './sealed.ts';
import { Searches } from './searches.ts';
import { makeSqlInsight } from './sql-insight.ts';
import type { SqlRunner } from './steps.ts';
import { SWEEP_BATCH_MAX } from './sweep-verbs.ts';

export interface SqlStore extends Store, ControlStore, ClusterStore {
  readonly people: PeopleStore;
  readonly insight: InsightStore;
  readonly jobs: ReplayJobStore;
  readonly alerts: AlertStore;
  readonly sealed: SealedStore;
}

export function makeSqlStore(dialect: Dialect): SqlStore {
  const { readers, writers, verbs, syntax, timers, sweepBatchMax = SWEEP_BATCH_MAX } = dialect;
  const sql = sqlRunner(readers.api, writers.api);
  const background = sqlRunner(readers.api, writers.maintenance);
  const searches = new Searches(readers.search, syntax, timers);
  return {
    ...dialect.reads,
    searchSchedules: (...list) => searches.schedules(...list),
    searchDeliveries: (...list) => searches.deliveries(...list),
    ...maintenance(background, sweepBatchMax),
    ...scheduleVerbs(dialect, sweepBatchMax),
    ...deliveryVerbs(dialect),
    ...notificationReads(readers.engine, syntax.longText),
    ...control(dialect),
    ...cluster(dialect),
    people: new SqlPeople(sql),
    insight: makeSqlInsight(dialect),
    jobs: new SqlReplayJobs(background, verbs),
    alerts: new SqlAlerts(background, syntax),
    sealed: new SqlSealed(sql),
    check: (now) => dialect.check(now),
    close: () => dialect.close(),
  };
}

function sqlRunner(reader: SqlReader, writer: SqlWriter): SqlRunner {
  return {
    query: (text, ...values) => reader.query(text, ...values),
    lookUp: (text, ...values) => reader.lookUp(text, ...values),
    run: (steps) => writer.run(steps),
  };
}

/** Reads by key, and the writes of the API. */
function scheduleVerbs({ readers, writers: { api }, verbs, syntax }: Dialect, sweepBatchMax: number) {
  const { firingSchedule, ...reads } = keyedReads(readers.api, syntax.longText);
  return {
    ...reads,
    ...lists(readers.api, syntax),
    addSchedule: (addition) => api.run(verbs.addSchedule(addition)),
    replaceSchedule: async (replacement) => {
      const { partition, id, revision } = replacement.schedule;
      const before = await firingSchedule(partition, id);
      // Another revision would have other labels. The write would be refused too.
      if (before?.revision !== revision - 1) return 'stale';
      return api.run(verbs.replaceSchedule(replacement, before, sweepBatchMax));
    },
    addReplay: (addition) => api.run(verbs.addReplay(addition)),
    addTriggered: (addition) => api.run(verbs.addTriggered(addition)),
    replaceDelivery: (delivery) => api.run(verbs.replaceDelivery(delivery)),
    addProfile: (addition) => api.run(verbs.addProfile(addition)),
    replaceProfile: (replacement) => api.run(verbs.replaceProfile(replacement)),
    archiveProfile: (profile) => api.run(verbs.archiveProfile(profile)),
    addReceipt: (partition, receipt) => api.run(verbs.addReceipt(partition, receipt)),
  } satisfies Partial<Store>;
}

/** The writes of the engine. */
function deliveryVerbs({ readers, writers, verbs, syntax }: Dialect) {
  const candidates = new Retention(readers.engine, syntax, verbs);
  return {
    claim: (writes, fence) => writers.firing.runAll(writes.map((write) => verbs.claim(write, fence))),
    settle: (writes) => writers.firing.runAll(writes.map(verbs.settle)),
    endUnsent: (writes, fence) => writers.firing.runAll(writes.map((write) => verbs.endUnsent(write, fence))),
    defer: (deliveries, fence) => writers.firing.runAll(deliveries.map((one) => verbs.defer(one, fence))),
    saveGates: async (gates, fence) => {
      await writers.firing.runAll(gates.map((gate) => verbs.saveGate(gate, fence)));
    },
    prune: async (what, before, limit) => {
      const { scanned, verbs: removing } = await candidates.removals(what, before, limit);
      await writers.maintenance.runAll(removing);
      return scanned;
    },
  } satisfies Partial<Store>;
}
