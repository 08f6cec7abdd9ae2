/**
 * The store that many nodes share. What writes goes through four lanes, each with a connection of its own, so
 * that none of them waits behind another: what the API stores, what is claimed or put off, what is settled or
 * cleared away, and the lease by which this node lives. What is read for the API, what is read on the way to a
 * request and what people look at have connections of their own for the same reason.
 */
import type { Client } from 'pg';
import type { Delivery } from '#src/domain/delivery.ts';
import type { Due } from '#src/domain/due.ts';
import type { DeliveryId, EndpointId, KeyId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { Profile } from '#src/domain/profile.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import type { Slot, Tenure } from '#src/domain/slot.ts';
import type { Clock } from '#src/ports/clock.ts';
import type { ClusterState, ClusterStore, NodeLease, SlotState } from '#src/ports/cluster-store.ts';
import type {
  ApiKey,
  ControlStore,
  KeyUse,
  Project,
  SigningSecret,
  Tenant,
} from '#src/ports/control-store.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { PeopleStore } from '#src/ports/people-store.ts';
import type {
  ClaimWrite,
  DeliveryFilter,
  EndWrite,
  LostClaim,
  Message,
  Page,
  ProfileWrite,
  Prunable,
  Receipt,
  ReplayAddition,
  SavedGate,
  ScheduleAddition,
  ScheduleFilter,
  ScheduleReplacement,
  SettleWrite,
  Store,
  Work,
  Written,
} from '#src/ports/store.ts';
import type { Stopwatch, Timers } from '#src/ports/timers.ts';
import { SqlPeople } from '#src/store/sql/people.ts';
import { SqlReplayJobs } from '#src/store/sql/replay-jobs.ts';
import { Retention } from '#src/store/sql/retention.ts';
import { tenureOf } from '#src/store/sql/taken.ts';
import { SqlUpkeep } from '#src/store/sql/upkeep.ts';
import { makeVerbs } from '#src/store/sql/verbs.ts';
import type { DatabaseAddress } from './address.ts';
import { AsideReader } from './aside-reader.ts';
import { ClusterReads } from './cluster-reads.ts';
import { connector } from './connect.ts';
import { ControlReads } from './control-reads.ts';
import { Executor } from './executor.ts';
import { unavailableInstead } from './faults.ts';
import { FiringReads } from './firing-reads.ts';
import { Link } from './link.ts';
import { places } from './places.ts';
import { PostgresInsight } from './postgres-insight.ts';
import { prepareSchema } from './prepare-schema.ts';
import { ReadPool } from './read-pool.ts';
import { Reads } from './reads.ts';
import { RETENTION } from './retention.ts';
import { sqlOf } from './sql-of.ts';
import { statements } from './statements.ts';
import { decodeText } from './text.ts';
import { allowPieces } from './transaction.ts';
import { WriteLane } from './write-lane.ts';

export interface PostgresOptions {
  readonly address: DatabaseAddress;
  readonly clock: Clock;
  readonly timers: Timers & Stopwatch;
  /** Of this process, among all that write to this database. */
  readonly node: string;
  /** Whether to make the schema or bring it up to date; else it must be. */
  readonly migrate: boolean;
  /** For a command, which asks little and one thing after the other. */
  readonly isSmall?: boolean;
}

const API_READERS = 4;
const FIRING_READERS = 2;
const ASIDE_READERS = 2;

const verbs = makeVerbs(places);

interface Lanes {
  readonly api: WriteLane;
  readonly claiming: WriteLane;
  readonly settling: WriteLane;
  readonly membership: WriteLane;
}

interface Pools {
  readonly api: ReadPool;
  readonly firing: ReadPool;
  readonly aside: AsideReader;
}

export class PostgresStore extends SqlUpkeep implements Store, ControlStore, ClusterStore {
  readonly people: PeopleStore;
  readonly insight: InsightStore;
  readonly jobs: SqlReplayJobs;
  readonly #links: readonly Link[];
  readonly #lanes: Lanes;
  readonly #pools: Pools;
  readonly #reads: Reads;
  readonly #control: ControlReads;
  readonly #firing: FiringReads;
  readonly #cluster: ClusterReads;
  readonly #retention: Retention;

  private constructor(links: readonly Link[], lanes: Lanes, pools: Pools, distributed: boolean) {
    super(sqlOf(pools.api, lanes.settling), verbs);
    this.insight = new PostgresInsight({ ...pools, ...lanes, distributed });
    this.#links = links;
    this.#lanes = lanes;
    this.#pools = pools;
    this.#reads = new Reads(pools.api);
    this.#control = new ControlReads(pools.api);
    this.#firing = new FiringReads(pools.firing, distributed);
    this.#cluster = new ClusterReads(pools.firing);
    this.#retention = new Retention((sql, ...values) => pools.firing.ask(sql, ...values), RETENTION, verbs);
    const sql = sqlOf(pools.api, lanes.api);
    this.people = new SqlPeople(sql);
    this.jobs = new SqlReplayJobs(sql, verbs);
  }

  static async open(options: PostgresOptions): Promise<PostgresStore> {
    const { address, clock, timers, node } = options;
    const connect = connector(address, { timers, decodeText });
    const distributed = await prepareSchema(options, connect);
    const keepsPlans = !distributed && !address.isPooled;
    const keeping = connector(address, { timers, decodeText, keepsPlans });
    const writing = keepsPlans
      ? connector(address, { timers, decodeText, keepsPlans, prepare: allowPieces })
      : connect;
    const links: Link[] = [];
    const make = (by: () => Promise<Client>) =>
      new Link({
        connect: by,
        timers,
        prepares: !address.isPooled,
        keepsPlans: keepsPlans && by !== connect,
      });
    const link = async (by: () => Promise<Client>) => {
      const made = make(by);
      links.push(made);
      await made.open();
      return made;
    };
    const open = (count: number, by: () => Promise<Client>) =>
      Promise.all(Array.from({ length: count }, () => link(by)));
    const lane = async (name: string) => {
      const writer = `${node} ${name}`;
      return new WriteLane(
        new Executor({
          link: await link(writing),
          clock,
          timers,
          writer,
          statements: statements(distributed),
          distributed,
        }),
      );
    };
    try {
      const [api, claiming, settling, membership, apiReaders, firingReaders] = await Promise.all([
        lane('api'),
        lane('claiming'),
        lane('settling'),
        lane('membership'),
        open(options.isSmall === true ? 1 : API_READERS, connect),
        open(options.isSmall === true ? 1 : FIRING_READERS, keeping),
      ]);
      const pools = {
        api: new ReadPool(apiReaders),
        firing: new ReadPool(firingReaders),
        aside: new AsideReader(() => Array.from({ length: ASIDE_READERS }, () => make(connect))),
      };
      return new PostgresStore(links, { api, claiming, settling, membership }, pools, distributed);
    } catch (error) {
      await Promise.all(links.map((one) => one.close()));
      throw unavailableInstead(error);
    }
  }

  findSchedule(partition: Partition, id: ScheduleId): Promise<ScheduleView | null> {
    return this.#reads.schedule(partition, id);
  }

  listSchedules(partition: Partition, filter: ScheduleFilter, page: Page<ScheduleId>) {
    return this.#reads.schedules(partition, filter, page);
  }

  addSchedule(addition: ScheduleAddition): Promise<Written> {
    return this.#lanes.api.run(verbs.addSchedule(addition));
  }

  async replaceSchedule(replacement: ScheduleReplacement): Promise<Written> {
    const { partition, id, revision } = replacement.schedule;
    const before = await this.#reads.schedule(partition, id);
    // Another revision than the one replaced would have other labels; the write would find that too.
    if (before?.schedule.revision !== revision - 1) return 'stale';
    return this.#lanes.api.run(verbs.replaceSchedule(replacement, before.schedule.metadata));
  }

  findPayload(partition: Partition, id: ScheduleId): Promise<Uint8Array | null> {
    return this.#reads.payload(partition, id);
  }

  findDelivery(partition: Partition, id: DeliveryId): Promise<Delivery | null> {
    return this.#reads.delivery(partition, id);
  }

  listDeliveries(partition: Partition, filter: DeliveryFilter, page: Page<DeliveryId>) {
    return this.#reads.deliveries(partition, filter, page);
  }

  addReplay(addition: ReplayAddition): Promise<Written> {
    return this.#lanes.api.run(verbs.addReplay(addition));
  }

  listAttempts(partition: Partition, id: DeliveryId, afterAttemptNo: number, limit: number) {
    return this.#reads.attempts(partition, id, afterAttemptNo, limit);
  }

  findProfile(partition: Partition, id: EndpointId): Promise<Profile | null> {
    return this.#reads.profile(partition, id);
  }

  listProfiles(partition: Partition, includeArchived: boolean, page: Page<EndpointId>) {
    return this.#reads.profiles(partition, includeArchived, page);
  }

  findProfileHeaders(partition: Partition, id: EndpointId, version: number): Promise<Uint8Array | null> {
    return this.#reads.profileHeaders(partition, id, version);
  }

  addProfile(addition: ProfileWrite): Promise<Written> {
    return this.#lanes.api.run(verbs.addProfile(addition));
  }

  replaceProfile(replacement: ProfileWrite): Promise<Written> {
    return this.#lanes.api.run(verbs.replaceProfile(replacement));
  }

  archiveProfile(profile: Profile): Promise<'done' | 'stale' | 'in_use'> {
    return this.#lanes.api.run(verbs.archiveProfile(profile));
  }

  findReceipt(partition: Partition, key: string, now: Instant): Promise<Receipt | null> {
    return this.#reads.receipt(partition, key, now);
  }

  addReceipt(partition: Partition, receipt: Receipt): Promise<'done' | 'key_taken'> {
    return this.#lanes.api.run(verbs.addReceipt(partition, receipt));
  }

  claim(writes: readonly ClaimWrite[], tenure?: Tenure): Promise<readonly ('done' | 'stale')[]> {
    return this.#lanes.claiming.runAll<'stale'>(writes.map((write) => verbs.claim(write, tenure)));
  }

  settle(writes: readonly SettleWrite[]): Promise<readonly ('done' | 'stale')[]> {
    return this.#lanes.settling.runAll<'stale'>(writes.map(verbs.settle));
  }

  endUnsent(writes: readonly EndWrite[], tenure?: Tenure): Promise<readonly ('done' | 'stale')[]> {
    return this.#lanes.claiming.runAll<'stale'>(writes.map((write) => verbs.endUnsent(write, tenure)));
  }

  putOff(deliveries: readonly Delivery[], tenure?: Tenure): Promise<readonly ('done' | 'stale')[]> {
    return this.#lanes.claiming.runAll<'stale'>(deliveries.map((delivery) => verbs.putOff(delivery, tenure)));
  }

  listDue(
    after: Pick<Due, 'dueAt' | 'id'> | null,
    until: Instant,
    limit: number,
    slots?: ReadonlySet<Slot>,
  ): Promise<readonly Due[]> {
    return this.#firing.due(after, until, limit, slots);
  }

  findWork(deliveries: readonly Pick<Due, 'partition' | 'id'>[]): Promise<readonly (Work | null)[]> {
    return this.#firing.work(deliveries);
  }

  findMessages(deliveries: readonly Delivery[]): Promise<readonly Message[]> {
    return this.#firing.messages(deliveries);
  }

  listLostClaims(livingNodes: readonly string[], limit: number): Promise<readonly LostClaim[]> {
    return this.#firing.lostClaims(livingNodes, limit);
  }

  /** In the lane of the claims, and so before those that are asked for later. */
  async saveGates(gates: readonly SavedGate[], tenure?: Tenure): Promise<void> {
    if (gates.length > 0)
      await this.#lanes.claiming.runAll(gates.map((gate) => verbs.saveGate(gate, tenure)));
  }

  async prune(what: Prunable, before: Instant, limit: number): Promise<number> {
    const { looked, verbs: removing } = await this.#retention.removals(what, before, limit);
    if (removing.length > 0) await this.#lanes.settling.runAll<'stale'>(removing);
    return looked;
  }

  /** A transaction that writes nothing but its own number. */
  async check(): Promise<void> {
    await this.#lanes.api.run([]);
  }

  async addProject(project: Omit<Project, 'partitions'>): Promise<Project | 'taken'> {
    const answer = await this.#lanes.api.run<'taken'>(verbs.addProject(project));
    return answer === 'taken' ? 'taken' : ((await this.findProject(project.name)) ?? 'taken');
  }

  findProject(name: string): Promise<Project | null> {
    return this.#control.project(name);
  }

  listProjects(): Promise<readonly Project[]> {
    return this.#control.projects();
  }

  addKey(key: ApiKey): Promise<'done' | 'taken'> {
    return this.#lanes.api.run(verbs.addKey(key));
  }

  listKeys(partition: Partition): Promise<readonly ApiKey[]> {
    return this.#control.keys(partition);
  }

  async revokeKey(id: KeyId, now: Instant): Promise<boolean> {
    return (await this.#lanes.api.run(verbs.revokeKey(id, now))) === 'done';
  }

  async touchKeys(uses: readonly KeyUse[]): Promise<void> {
    await this.#lanes.api.run(verbs.touchKeys(uses));
  }

  findTenant(keyHash: string): Promise<Tenant | null> {
    return this.#control.tenant(keyHash);
  }

  listSecrets(partition: Partition, now: Instant): Promise<readonly SigningSecret[]> {
    return this.#control.secrets(partition, now);
  }

  async addSecret(secret: SigningSecret, othersExpireAt: Instant): Promise<void> {
    await this.#lanes.api.run(verbs.addSecret(secret, othersExpireAt));
  }

  readClock(): Promise<number> {
    return this.#cluster.clock();
  }

  async renewLease(lease: NodeLease): Promise<ClusterState> {
    await this.#lanes.membership.run(verbs.renewLease(lease));
    return this.#cluster.state();
  }

  async takeSlots(node: string, seen: readonly Pick<SlotState, 'slot' | 'epoch'>[]): Promise<Tenure> {
    const answers = await this.#lanes.membership.runAll<'stale'>(
      seen.map((one) => verbs.takeSlot(node, one)),
    );
    return tenureOf(node, seen, answers);
  }

  async releaseSlots(tenure: Tenure): Promise<void> {
    if (tenure.epochs.size > 0) await this.#lanes.membership.run(verbs.releaseSlots(tenure));
  }

  async leave(node: string): Promise<void> {
    await this.#lanes.membership.run(verbs.leave(node));
  }

  bury(lease: NodeLease): Promise<'done' | 'stale'> {
    return this.#lanes.membership.run(verbs.bury(lease));
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#lanes).map((lane: WriteLane) => lane.close()));
    for (const pool of [this.#pools.api, this.#pools.firing]) pool.close();
    await this.#pools.aside.close();
    await Promise.all(this.#links.map((link) => link.close()));
  }
}
