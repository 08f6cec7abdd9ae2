/** For tests only: processes that run alerts, in virtual time, on the store of an engine harness. */
import type { AlertChannel, AlertCondition } from '#src/domain/alert.ts';
import type { AlertMessage } from '#src/domain/alert-message.ts';
import { CLOSED } from '#src/domain/breaker.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { NEW_GATE } from '#src/domain/gate.ts';
import type { AlertIncidentId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { alertUrlContext } from '#src/domain/sealing-contexts.ts';
import { MINUTE_MS, NO_STATS, type Stats } from '#src/domain/stats.ts';
import { Alerts } from '#src/engine/alerts/alerts.ts';
import type { AlertsDependencies } from '#src/engine/alerts/dependencies.ts';
import { OWNS_EVERY_SLOT } from '#src/engine/cluster/slot-ownership.ts';
import type { AlertStore } from '#src/ports/alert-store.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import { makeSqlInsight } from '#src/store/sql/sql-insight.ts';
import { oldestStats } from '#src/store/sql/stats-retention.ts';
import { openForReading } from '#src/store/sqlite/connection.ts';
import { SqliteReader } from '#src/store/sqlite/prepared-queries.ts';
import { indexedBy } from '#src/store/sqlite/statement-builders.ts';
import { SYNTAX } from '#src/store/sqlite/syntax.ts';
import { EngineHarness, PARTITION } from './engine-harness.ts';

export const DASHBOARD = 'https://sched.example/dashboard';
/** The secret of the harness's project. */
export const SECRET = 'whsec_of_the_world';

type Verb = keyof AlertStore;
type Hook = (verb: Verb) => unknown;

/** A process that runs alerts. */
export class AlertNode {
  readonly alerts: Alerts;
  /** Called before and after each verb of the store. */
  before: Hook = () => undefined;
  after: Hook = () => undefined;
  #isDead = false;

  constructor(harness: EngineHarness, insight: InsightStore, given: Partial<AlertsDependencies> = {}) {
    const { store, disk, time } = harness;
    const { clock, ids, log, egress, vault } = harness;
    const alerts = this.#watched(disk.alerts);
    this.alerts = new Alerts(
      {
        clock,
        ids,
        log,
        egress,
        vault,
        insight,
        ownership: OWNS_EVERY_SLOT,
        timers: {
          elapsed: () => time.elapsed(),
          after: (ms, act) => time.after(ms, () => (this.#isDead ? undefined : act())),
        },
        store: new Proxy(store, {
          get: (target, name) => (name === 'alerts' ? alerts : Reflect.get(target, name, target)),
        }),
        ...given,
      },
      { retentionMs: 0, dashboard: DASHBOARD },
    );
    this.alerts.start();
  }

  #watched(alerts: AlertStore): AlertStore {
    return new Proxy(alerts, {
      get: (target, name) => {
        const verb = name as Verb;
        const member = Reflect.get(target, verb, target) as (...given: readonly unknown[]) => unknown;
        return async (...given: readonly unknown[]) => {
          await this.#unlessDead(() => this.before(verb));
          const answer = await this.#unlessDead(() => Reflect.apply(member, target, given));
          return this.#unlessDead(async () => {
            await this.after(verb);
            return this.#isDead ? new Promise(() => {}) : answer;
          });
        };
      },
    });
  }

  async #unlessDead(act: () => unknown): Promise<unknown> {
    return this.#isDead ? new Promise(() => {}) : act();
  }

  /** Kills the process without a stop: nothing that it waits for comes. */
  kill(): void {
    this.#isDead = true;
  }
}

export class AlertHarness implements AsyncDisposable {
  readonly engine: EngineHarness;
  /** The queries of the real store, on this thread: another one does not know the virtual time. */
  readonly insight: InsightStore;
  readonly #close: () => void;

  private constructor(engine: EngineHarness) {
    this.engine = engine;
    const db = openForReading(engine.databasePath);
    this.#close = () => db.close();
    const reader = new SqliteReader(db);
    const readers = { api: reader, engine: reader, insight: reader, search: reader };
    const unwritten = { run: async () => 'done' as const, runAll: async () => [] };
    const writers = { api: unwritten, firing: unwritten, membership: unwritten, maintenance: unwritten };
    const dialect = { syntax: SYNTAX, dueRowsMax: 1_000, oldestStats: oldestStats(indexedBy) };
    this.insight = makeSqlInsight({ readers, writers, ...dialect });
  }

  static async open(): Promise<AlertHarness> {
    return new AlertHarness(await EngineHarness.open());
  }

  node(given: Partial<AlertsDependencies> = {}): AlertNode {
    return new AlertNode(this.engine, this.insight, given);
  }

  async channel(
    kind: AlertChannel['kind'] = 'webhook',
    url = 'https://alerts.example/hook?key=hidden',
    partition: Partition = PARTITION,
  ): Promise<AlertChannel> {
    const { ids, now, vault, disk } = this.engine;
    const id = ids.mint('chn', now);
    const sealedUrl = vault.seal(alertUrlContext(partition, id), Buffer.from(url));
    const times = { createdAt: now, updatedAt: now, revision: 1 };
    const channel = { partition, id, kind, name: id, sealedUrl, shownUrl: '', ...times };
    const answer = await disk.alerts.addChannel(channel);
    if (answer !== 'done') throw new Error(`The channel was not added: ${answer}.`);
    return channel;
  }

  async condition(
    kind: AlertCondition['kind'],
    channels: readonly AlertChannel[],
    given: Partial<AlertCondition> = {},
  ): Promise<AlertCondition> {
    const { ids, now, disk } = this.engine;
    const isAboutFailures = kind === 'deliveries_failed';
    const condition: AlertCondition = {
      partition: channels[0]?.partition ?? PARTITION,
      id: ids.mint('alc', now),
      kind,
      threshold: isAboutFailures ? 10 : null,
      windowMinutes: isAboutFailures ? 5 : null,
      channelIds: channels.map(({ id }) => id),
      enabled: true,
      createdAt: now,
      updatedAt: now,
      revision: 1,
      ...given,
    };
    const answer = await disk.alerts.addCondition(condition);
    if (answer !== 'done') throw new Error(`The condition was not added: ${answer}.`);
    return condition;
  }

  /** Saves stats of the present minute, as a node does. */
  async saveStats(stats: Partial<Stats>, partition = PARTITION): Promise<void> {
    const { now, disk } = this.engine;
    const at = instant(now - (now % MINUTE_MS));
    const saved = { partition, spanMs: MINUTE_MS, at, stats: { ...NO_STATS, ...stats } } as const;
    await disk.insight.saveStats('node-1', [saved], []);
  }

  /** Saves the gate of an endpoint with its breaker open or closed. */
  async saveBreaker(endpoint: string, isOpen: boolean): Promise<void> {
    const { now, disk } = this.engine;
    const open = { failures: 5, openUntil: instant(now + 30_000), windowMs: 30_000, probeUntil: null };
    const gate = { ...NEW_GATE, breaker: isOpen ? open : CLOSED };
    await disk.saveGates([{ partition: PARTITION, endpoint: endpoint as EndpointKey, gate, savedAt: now }]);
  }

  /** All messages of all incidents, oldest first. */
  async messages(partition: Partition = PARTITION): Promise<readonly AlertMessage[]> {
    const { alerts } = this.engine.disk;
    const incidents = await alerts.listIncidents(partition, null, 1_000);
    const ofEach = incidents.map(({ id }: { readonly id: AlertIncidentId }) =>
      alerts.listMessages(partition, id, 1_000),
    );
    return (await Promise.all(ofEach)).flat().toSorted((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** The kinds of all messages, oldest first. */
  async kinds(): Promise<readonly string[]> {
    return (await this.messages()).map(({ kind }) => kind);
  }

  /** The types in the bodies of all webhooks that were sent. */
  get sentTypes(): readonly string[] {
    return this.engine.egress.sent.map(({ request }) => {
      const { type } = JSON.parse(Buffer.from(request.body ?? []).toString()) as { readonly type: string };
      return type;
    });
  }

  advance(ms: number): Promise<void> {
    return this.engine.time.advance(ms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    await this.engine[Symbol.asyncDispose]();
  }
}
