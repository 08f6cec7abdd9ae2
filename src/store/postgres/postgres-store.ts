/** The store that several nodes share: every verb, and the connection that carries it (see `connections.ts`). */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId, EndpointId, KeyId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import type { Fence, Slot } from '#src/domain/slot.ts';
import type { ClusterState, ClusterStore, NodeLease, SlotState } from '#src/ports/cluster-store.ts';
import type {
  ApiKey,
  ControlStore,
  EndpointSecret,
  EndpointSecretsChange,
  KeyUse,
  Project,
  SigningSecret,
  Tenant,
} from '#src/ports/control-store.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { PeopleStore } from '#src/ports/people-store.ts';
import type {
  ClaimWrite,
  CustomerCursor,
  CustomersPage,
  DeliveryFilter,
  EndWrite,
  ListFilter,
  LoadedDelivery,
  Page,
  ProfileWrite,
  Prunable,
  Receipt,
  ReplayAddition,
  SavedGate,
  ScheduleAddition,
  ScheduleReplacement,
  SettleWrite,
  Store,
  StoredPayload,
  UnsettledAttempt,
  WriteOutcome,
} from '#src/ports/store.ts';
import type { SealedStore } from '#src/ports/vault.ts';
import { SqlMaintenance } from '#src/store/sql/maintenance.ts';
import { SqlPeople } from '#src/store/sql/people.ts';
import { SqlReplayJobs } from '#src/store/sql/replay-jobs.ts';
import { Retention } from '#src/store/sql/retention.ts';
import { SqlSealed } from '#src/store/sql/sealed.ts';
import { toFence } from '#src/store/sql/verbs.ts';
import { type Connections, openConnections, type PostgresOptions, sqlRunner } from './connections.ts';
import { ControlReads } from './control-reads.ts';
import { DueReads } from './due-reads.ts';
import { FiringReads } from './firing-reads.ts';
import type { LeaseConnection } from './lease-connection.ts';
import type { PayloadReads } from './payload-reads.ts';
import { PostgresInsight } from './postgres-insight.ts';
import { Reads } from './reads.ts';
import { RETENTION_QUERIES } from './retention-queries.ts';
import { verbs } from './verbs.ts';

export class PostgresStore extends SqlMaintenance implements Store, ControlStore, ClusterStore {
  readonly people: PeopleStore;
  readonly insight: InsightStore;
  readonly jobs: SqlReplayJobs;
  readonly sealed: SealedStore;
  readonly #connections: Connections;
  readonly #writers: Connections['writers'];
  readonly #reads: Reads;
  readonly #control: ControlReads;
  readonly #firing: FiringReads;
  readonly #due: DueReads;
  readonly #payloads: PayloadReads;
  readonly #lease: LeaseConnection;
  readonly #retention: Retention;

  private constructor(connections: Connections) {
    const { writers, pools, payloads, lease, distributed } = connections;
    super(sqlRunner(pools.api, writers.maintenance), verbs);
    this.insight = new PostgresInsight({ ...pools, ...writers, distributed });
    this.#connections = connections;
    this.#writers = writers;
    this.#reads = new Reads(pools.api);
    this.#control = new ControlReads(pools.api);
    this.#firing = new FiringReads(pools.firing, distributed);
    this.#due = new DueReads(pools.firing, distributed);
    this.#payloads = payloads;
    this.#lease = lease;
    this.#retention = new Retention(
      (sql, ...values) => pools.firing.query(sql, ...values),
      RETENTION_QUERIES,
      verbs,
    );
    const sql = sqlRunner(pools.api, writers.api);
    this.people = new SqlPeople(sql);
    this.jobs = new SqlReplayJobs(sql, verbs);
    this.sealed = new SqlSealed(sql);
  }

  static async open(options: PostgresOptions): Promise<PostgresStore> {
    return new PostgresStore(await openConnections(options));
  }

  findSchedule(partition: Partition, id: ScheduleId): Promise<ScheduleView | null> {
    return this.#reads.schedule(partition, id);
  }

  listSchedules(partition: Partition, filter: ListFilter, page: Page<ScheduleId>) {
    return this.#reads.schedules(partition, filter, page);
  }

  findSchedules(partition: Partition, ids: readonly ScheduleId[]) {
    return this.#reads.schedulesOf(partition, ids);
  }

  searchSchedules(...parameters: Parameters<Store['searchSchedules']>) {
    return this.#connections.pools.search.find(...parameters);
  }

  addSchedule(addition: ScheduleAddition): Promise<WriteOutcome> {
    return this.#writers.api.run(verbs.addSchedule(addition));
  }

  async replaceSchedule(replacement: ScheduleReplacement): Promise<WriteOutcome> {
    const { partition, id, revision } = replacement.schedule;
    const before = await this.#reads.firingSchedule(partition, id);
    // Another revision would have other labels. The write would be refused too.
    if (before?.revision !== revision - 1) return 'stale';
    return this.#writers.api.run(verbs.replaceSchedule(replacement, before));
  }

  findPayload(partition: Partition, id: ScheduleId): Promise<Uint8Array | null> {
    return this.#payloads.payload(partition, id);
  }

  findDelivery(partition: Partition, id: DeliveryId): Promise<Delivery | null> {
    return this.#reads.delivery(partition, id);
  }

  listDeliveries(partition: Partition, filter: DeliveryFilter, page: Page<DeliveryId>) {
    return this.#reads.deliveries(partition, filter, page);
  }

  addReplay(addition: ReplayAddition): Promise<WriteOutcome> {
    return this.#writers.api.run(verbs.addReplay(addition));
  }

  findProfile(partition: Partition, id: EndpointId): Promise<EndpointProfile | null> {
    return this.#reads.profile(partition, id);
  }

  listProfiles(partition: Partition, includeArchived: boolean, page: Page<EndpointId>) {
    return this.#reads.profiles(partition, includeArchived, page);
  }

  findProfileHeaders(partition: Partition, id: EndpointId, version: number): Promise<Uint8Array | null> {
    return this.#reads.profileHeaders(partition, id, version);
  }

  addProfile(addition: ProfileWrite): Promise<WriteOutcome> {
    return this.#writers.api.run(verbs.addProfile(addition));
  }

  replaceProfile(replacement: ProfileWrite): Promise<WriteOutcome> {
    return this.#writers.api.run(verbs.replaceProfile(replacement));
  }

  archiveProfile(profile: EndpointProfile): Promise<'done' | 'stale' | 'in_use'> {
    return this.#writers.api.run(verbs.archiveProfile(profile));
  }

  findReceipt(partition: Partition, key: string, now: Instant): Promise<Receipt | null> {
    return this.#reads.receipt(partition, key, now);
  }

  addReceipt(partition: Partition, receipt: Receipt): Promise<'done' | 'key_taken'> {
    return this.#writers.api.run(verbs.addReceipt(partition, receipt));
  }

  claim(writes: readonly ClaimWrite[], fence?: Fence): Promise<readonly ('done' | 'stale')[]> {
    return this.#writers.claiming.runAll<'stale'>(writes.map((write) => verbs.claim(write, fence)));
  }

  settle(writes: readonly SettleWrite[]): Promise<readonly ('done' | 'stale')[]> {
    return this.#writers.settling.runAll<'stale'>(writes.map(verbs.settle));
  }

  endUnsent(writes: readonly EndWrite[], fence?: Fence): Promise<readonly ('done' | 'stale')[]> {
    return this.#writers.claiming.runAll<'stale'>(writes.map((write) => verbs.endUnsent(write, fence)));
  }

  defer(deliveries: readonly Delivery[], fence?: Fence): Promise<readonly ('done' | 'stale')[]> {
    return this.#writers.claiming.runAll<'stale'>(deliveries.map((delivery) => verbs.defer(delivery, fence)));
  }

  listDue(
    after: Pick<DueDelivery, 'dueAt' | 'id'> | null,
    until: Instant,
    limit: number,
    slots?: ReadonlySet<Slot>,
  ): Promise<readonly DueDelivery[]> {
    return this.#due.list(after, until, limit, slots);
  }

  listWaitingCustomers(
    after: CustomerCursor | null,
    limit: number,
    slots?: ReadonlySet<Slot>,
  ): Promise<readonly CustomerCursor[]> {
    return this.#due.customers(after, limit, slots);
  }

  listDueOfCustomers(
    cursors: readonly CustomerCursor[],
    until: Instant,
    limitEach: number,
    slots?: ReadonlySet<Slot>,
  ): Promise<CustomersPage> {
    return this.#due.listOfCustomers(cursors, until, limitEach, slots);
  }

  loadDeliveries(
    deliveries: readonly Pick<DueDelivery, 'partition' | 'id'>[],
  ): Promise<readonly (LoadedDelivery | null)[]> {
    return this.#firing.load(deliveries);
  }

  loadPayloads(deliveries: readonly Delivery[]): Promise<readonly StoredPayload[]> {
    return this.#payloads.load(deliveries);
  }

  listLostClaims(livingNodes: readonly string[], limit: number): Promise<readonly UnsettledAttempt[]> {
    return this.#firing.lostClaims(livingNodes, limit);
  }

  /** Uses the connection of the claims, so gates are saved before claims that come later. */
  async saveGates(gates: readonly SavedGate[], fence?: Fence): Promise<void> {
    if (gates.length > 0)
      await this.#writers.claiming.runAll(gates.map((gate) => verbs.saveGate(gate, fence)));
  }

  async prune(what: Prunable, before: Instant, limit: number): Promise<number> {
    const { scanned, verbs: removing } = await this.#retention.removals(what, before, limit);
    if (removing.length > 0) await this.#writers.settling.runAll<'stale'>(removing);
    return scanned;
  }

  /** Runs a transaction that writes only its own number. */
  async check(): Promise<void> {
    await this.#writers.api.run([]);
  }

  async addProject(project: Omit<Project, 'partitions'>): Promise<Project | 'taken'> {
    const answer = await this.#writers.api.run<'taken'>(verbs.addProject(project));
    return answer === 'taken' ? 'taken' : ((await this.findProject(project.name)) ?? 'taken');
  }

  findProject(name: string): Promise<Project | null> {
    return this.#control.project(name);
  }

  listProjects(): Promise<readonly Project[]> {
    return this.#control.projects();
  }

  addKey(key: ApiKey): Promise<'done' | 'taken'> {
    return this.#writers.api.run(verbs.addKey(key));
  }

  listKeys(partition: Partition): Promise<readonly ApiKey[]> {
    return this.#control.keys(partition);
  }

  async revokeKey(id: KeyId, now: Instant): Promise<boolean> {
    return (await this.#writers.api.run(verbs.revokeKey(id, now))) === 'done';
  }

  async touchKeys(uses: readonly KeyUse[]): Promise<void> {
    await this.#writers.api.run(verbs.touchKeys(uses));
  }

  findTenant(keyHash: string): Promise<Tenant | null> {
    return this.#control.tenant(keyHash);
  }

  listSecrets(partition: Partition, now: Instant): Promise<readonly SigningSecret[]> {
    return this.#control.secrets(partition, now);
  }

  async addSecret(secret: SigningSecret, othersExpireAt: Instant): Promise<void> {
    await this.#writers.api.run(verbs.addSecret(secret, othersExpireAt));
  }

  hasEndpointSecrets(partition: Partition, now: Instant): Promise<boolean> {
    return this.#control.hasEndpointSecrets(partition, now);
  }

  listEndpointSecrets(
    partition: Partition,
    endpointId: EndpointId,
    now: Instant,
  ): Promise<readonly EndpointSecret[]> {
    return this.#control.endpointSecrets(partition, endpointId, now);
  }

  changeEndpointSecrets(change: EndpointSecretsChange): Promise<'done' | 'stale' | 'missing'> {
    return this.#writers.api.run(verbs.changeEndpointSecrets(change));
  }

  readClock(): Promise<number> {
    return this.#lease.readClock();
  }

  renewLease(lease: NodeLease): Promise<ClusterState> {
    return this.#lease.renewLease(lease);
  }

  async takeSlots(node: string, seen: readonly Pick<SlotState, 'slot' | 'epoch'>[]): Promise<Fence> {
    const answers = await this.#writers.membership.runAll<'stale'>(
      seen.map((one) => verbs.takeSlot(node, one)),
    );
    return toFence(node, seen, answers);
  }

  async releaseSlots(fence: Fence): Promise<void> {
    if (fence.epochs.size > 0) await this.#writers.membership.run(verbs.releaseSlots(fence));
  }

  async leave(node: string): Promise<void> {
    await this.#writers.membership.run(verbs.leave(node));
  }

  removeDeadNode(lease: NodeLease): Promise<'done' | 'stale'> {
    return this.#writers.membership.run(verbs.removeDeadNode(lease));
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}
