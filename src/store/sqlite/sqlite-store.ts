/** The embedded store: one SQLite file. The engine's thread reads it, and a thread of its own writes it. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
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
import {
  type ClaimWrite,
  type CustomerCursor,
  type CustomersPage,
  type DeliveryFilter,
  type EndWrite,
  type ListFilter,
  type LoadedDelivery,
  type Page,
  type ProfileWrite,
  type Prunable,
  type Receipt,
  type ReplayAddition,
  type SavedGate,
  type ScheduleAddition,
  type ScheduleFilter,
  type ScheduleReplacement,
  type SettleWrite,
  type Store,
  type StoredPayload,
  StoreUnavailable,
  type UnsettledAttempt,
  type WriteOutcome,
} from '#src/ports/store.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import type { SealedStore } from '#src/ports/vault.ts';
import { LabelSearch } from '#src/store/sql/label-search.ts';
import { SqlMaintenance } from '#src/store/sql/maintenance.ts';
import { SqlPeople } from '#src/store/sql/people.ts';
import { SqlReplayJobs } from '#src/store/sql/replay-jobs.ts';
import { Retention } from '#src/store/sql/retention.ts';
import { SqlSealed } from '#src/store/sql/sealed.ts';
import { toFence } from '#src/store/sql/verbs.ts';
import { ClusterReads } from './cluster-reads.ts';
import { type Db, migrate, openForReading, openForWriting, requireCurrent } from './connection.ts';
import { prepareControlReads } from './control-reads.ts';
import { unavailableInstead } from './errors.ts';
import type { WriterData } from './executor.ts';
import { FiringReads } from './firing-reads.ts';
import { type DirectoryLock, lockDirectory } from './lock.ts';
import { PreparedQueries, sqlRunner } from './prepared-queries.ts';
import { Reads } from './reads.ts';
import { RETENTION_QUERIES } from './retention-queries.ts';
import { SqliteInsight } from './sqlite-insight.ts';
import { verbs } from './verbs.ts';
import { type OpenWriter, type WriteQueue, Writer } from './writer.ts';

export interface SqliteOptions {
  readonly directory: string;
  readonly now: Instant;
  /** Whether to lock the directory. A service does; the command line works beside it. */
  readonly exclusive: boolean;
  /** Whether to create the database or migrate it. If false, it must be up to date. The default is true. */
  readonly migrate?: boolean;
  /** A limit on the size of the file, in pages. */
  readonly maxPages?: number;
  /** Whether a write must survive a crash of the machine. False in a simulation. The default is true. */
  readonly durable?: boolean;
  /** They pause a long search and end it. Without timers only the number of rows ends it. */
  readonly timers?: Timers & Stopwatch;
  /** How many deliveries of one status a batch of a sweep changes. A simulation uses a small number. */
  readonly sweepBatchMax?: number;
  /** Opens the writer. The default is a thread of its own. */
  readonly openWriter?: OpenWriter;
}

export const DATABASE_FILE = 'sched.db';
const STOPPED_TIMERS: Timers & Stopwatch = {
  elapsed: () => 0,
  after: (_, act) => {
    queueMicrotask(act);
    return () => {};
  },
};

export class SqliteStore extends SqlMaintenance implements Store, ControlStore, ClusterStore {
  readonly people: PeopleStore;
  readonly insight: InsightStore;
  readonly jobs: SqlReplayJobs;
  readonly sealed: SealedStore;
  readonly #reader: Db;
  readonly #reads: Reads;
  readonly #control: ReturnType<typeof prepareControlReads>;
  readonly #firing: FiringReads;
  readonly #cluster: ClusterReads;
  readonly #retention: Retention;
  readonly #writer: WriteQueue;
  readonly #insight: SqliteInsight;
  readonly #search: LabelSearch;
  readonly #lock: DirectoryLock | null;

  private constructor(
    path: string,
    reader: Db,
    writer: WriteQueue,
    lock: DirectoryLock | null,
    timers: Timers & Stopwatch,
    sweepBatchMax: number | undefined,
  ) {
    const queries = new PreparedQueries(reader);
    const sql = sqlRunner(async (read) => readFrom(reader, () => read(queries)), writer);
    super(sql, verbs, sweepBatchMax);
    this.#insight = new SqliteInsight({ path, writer, reader });
    this.insight = this.#insight;
    this.#search = new LabelSearch(this.#insight.labelScans, timers);
    this.#reader = reader;
    this.#reads = new Reads(reader);
    this.#control = prepareControlReads(reader);
    this.#firing = new FiringReads(reader);
    this.#cluster = new ClusterReads(reader);
    this.#retention = new Retention(
      (sql, ...values) => this.#read(() => queries.all(sql, ...values)),
      RETENTION_QUERIES,
      verbs,
    );
    this.people = new SqlPeople(sql);
    this.jobs = new SqlReplayJobs(sql, verbs);
    this.sealed = new SqlSealed(sql);
    this.#writer = writer;
    this.#lock = lock;
  }

  static async open(options: SqliteOptions): Promise<SqliteStore> {
    if (options.migrate !== false) ensureDirectory(options.directory);
    const path = join(options.directory, DATABASE_FILE);
    const lock = options.exclusive ? lockDirectory(options.directory) : null;
    try {
      prepareFile(path, options);
      const {
        maxPages = null,
        durable = true,
        openWriter = openThread,
        timers = STOPPED_TIMERS,
        sweepBatchMax,
      } = options;
      const writer = await openWriter({ path, maxPages, durable });
      return new SqliteStore(path, openForReading(path), writer, lock, timers, sweepBatchMax);
    } catch (error) {
      lock?.release();
      throw error;
    }
  }

  #readNow<T>(read: () => T): T {
    return readFrom(this.#reader, read);
  }

  /** SQLite answers at once. The port is asynchronous because other stores are. */
  async #read<T>(read: () => T): Promise<T> {
    return this.#readNow(read);
  }

  findSchedule(partition: Partition, id: ScheduleId): Promise<ScheduleView | null> {
    return this.#read(() => this.#reads.schedule(partition, id));
  }

  listSchedules(partition: Partition, filter: ListFilter, page: Page<ScheduleId>) {
    return this.#read(() => this.#reads.schedules(partition, filter, page));
  }

  findSchedules(partition: Partition, ids: readonly ScheduleId[]) {
    return this.#read(() => this.#reads.schedulesOf(partition, ids));
  }

  searchSchedules(partition: Partition, filter: ScheduleFilter, page: Page<ScheduleId>) {
    return this.#search.find(partition, filter, page);
  }

  addSchedule(addition: ScheduleAddition): Promise<WriteOutcome> {
    return this.#writer.run(verbs.addSchedule(addition));
  }

  async replaceSchedule(replacement: ScheduleReplacement): Promise<WriteOutcome> {
    const { partition, id, revision } = replacement.schedule;
    const before = this.#readNow(() => this.#reads.firingSchedule(partition, id));
    // Another revision would have other labels. The write would be refused too.
    if (before?.revision !== revision - 1) return 'stale';
    return this.#writer.run(verbs.replaceSchedule(replacement, before, this.sweepBatchMax));
  }

  findPayload(partition: Partition, id: ScheduleId): Promise<Uint8Array | null> {
    return this.#read(() => this.#reads.payload(partition, id));
  }

  findDelivery(partition: Partition, id: DeliveryId): Promise<Delivery | null> {
    return this.#read(() => this.#reads.delivery(partition, id));
  }

  listDeliveries(partition: Partition, filter: DeliveryFilter, page: Page<DeliveryId>) {
    return this.#read(() => this.#reads.deliveries(partition, filter, page));
  }

  addReplay(addition: ReplayAddition): Promise<WriteOutcome> {
    return this.#writer.run(verbs.addReplay(addition));
  }

  findProfile(partition: Partition, id: EndpointId): Promise<EndpointProfile | null> {
    return this.#read(() => this.#reads.profile(partition, id));
  }

  listProfiles(partition: Partition, includeArchived: boolean, page: Page<EndpointId>) {
    return this.#read(() => this.#reads.profiles(partition, includeArchived, page));
  }

  findProfileHeaders(partition: Partition, id: EndpointId, version: number): Promise<Uint8Array | null> {
    return this.#read(() => this.#reads.profileHeaders(partition, id, version));
  }

  addProfile(addition: ProfileWrite): Promise<WriteOutcome> {
    return this.#writer.run(verbs.addProfile(addition));
  }

  replaceProfile(replacement: ProfileWrite): Promise<WriteOutcome> {
    return this.#writer.run(verbs.replaceProfile(replacement));
  }

  archiveProfile(profile: EndpointProfile): Promise<'done' | 'stale' | 'in_use'> {
    return this.#writer.run(verbs.archiveProfile(profile));
  }

  findReceipt(partition: Partition, key: string, now: Instant): Promise<Receipt | null> {
    return this.#read(() => this.#reads.receipt(partition, key, now));
  }

  addReceipt(partition: Partition, receipt: Receipt): Promise<'done' | 'key_taken'> {
    return this.#writer.run(verbs.addReceipt(partition, receipt));
  }

  claim(writes: readonly ClaimWrite[], fence?: Fence): Promise<readonly ('done' | 'stale')[]> {
    return this.#writer.runAll<'stale'>(writes.map((write) => verbs.claim(write, fence)));
  }

  settle(writes: readonly SettleWrite[]): Promise<readonly ('done' | 'stale')[]> {
    return this.#writer.runAll<'stale'>(writes.map(verbs.settle));
  }

  endUnsent(writes: readonly EndWrite[], fence?: Fence): Promise<readonly ('done' | 'stale')[]> {
    return this.#writer.runAll<'stale'>(writes.map((write) => verbs.endUnsent(write, fence)));
  }

  defer(deliveries: readonly Delivery[], fence?: Fence): Promise<readonly ('done' | 'stale')[]> {
    return this.#writer.runAll<'stale'>(deliveries.map((delivery) => verbs.defer(delivery, fence)));
  }

  listDue(
    after: Pick<DueDelivery, 'dueAt' | 'id'> | null,
    until: Instant,
    limit: number,
    slots?: ReadonlySet<Slot>,
  ): Promise<readonly DueDelivery[]> {
    return this.#read(() => this.#firing.due(after, until, limit, slots));
  }

  listWaitingCustomers(after: CustomerCursor | null, limit: number): Promise<readonly CustomerCursor[]> {
    return this.#read(() => this.#firing.customers(after, limit));
  }

  listDueOfCustomers(
    cursors: readonly CustomerCursor[],
    until: Instant,
    limitEach: number,
    slots?: ReadonlySet<Slot>,
  ): Promise<CustomersPage> {
    return this.#read(() => this.#firing.dueOfCustomers(cursors, until, limitEach, slots));
  }

  loadDeliveries(
    deliveries: readonly Pick<DueDelivery, 'partition' | 'id'>[],
  ): Promise<readonly (LoadedDelivery | null)[]> {
    return this.#read(() => this.#firing.load(deliveries));
  }

  loadPayloads(deliveries: readonly Delivery[]): Promise<readonly StoredPayload[]> {
    return this.#read(() => this.#firing.payloads(deliveries));
  }

  listLostClaims(livingNodes: readonly string[], limit: number): Promise<readonly UnsettledAttempt[]> {
    return this.#read(() => this.#firing.lostClaims(livingNodes, limit));
  }

  async saveGates(gates: readonly SavedGate[], fence?: Fence): Promise<void> {
    if (gates.length > 0) await this.#writer.runAll(gates.map((gate) => verbs.saveGate(gate, fence)));
  }

  async prune(what: Prunable, before: Instant, limit: number): Promise<number> {
    const { scanned, verbs: removing } = await this.#retention.removals(what, before, limit);
    if (removing.length > 0) await this.#writer.runAll<'stale'>(removing);
    return scanned;
  }

  /** After a failed write the disk must also take a write of ordinary size: see `disk-check.ts`. */
  async check(now: Instant): Promise<void> {
    if (this.#writer.isFailing) {
      await this.#writer.run(verbs.writeProbe());
      await this.#writer.run(verbs.removeProbe());
    }
    await this.#writer.run(verbs.writeHeartbeat(now));
  }

  async addProject(project: Omit<Project, 'partitions'>): Promise<Project | 'taken'> {
    const answer = await this.#writer.run<'taken'>(verbs.addProject(project));
    return answer === 'taken' ? 'taken' : ((await this.findProject(project.name)) ?? 'taken');
  }

  findProject(name: string): Promise<Project | null> {
    return this.#read(() => this.#control.project(name));
  }

  listProjects(): Promise<readonly Project[]> {
    return this.#read(() => this.#control.projects());
  }

  addKey(key: ApiKey): Promise<'done' | 'taken'> {
    return this.#writer.run(verbs.addKey(key));
  }

  listKeys(partition: Partition): Promise<readonly ApiKey[]> {
    return this.#read(() => this.#control.keys(partition));
  }

  async revokeKey(id: KeyId, now: Instant): Promise<boolean> {
    return (await this.#writer.run(verbs.revokeKey(id, now))) === 'done';
  }

  async touchKeys(uses: readonly KeyUse[]): Promise<void> {
    await this.#writer.run(verbs.touchKeys(uses));
  }

  findTenant(keyHash: string): Promise<Tenant | null> {
    return this.#read(() => this.#control.tenant(keyHash));
  }

  listSecrets(partition: Partition, now: Instant): Promise<readonly SigningSecret[]> {
    return this.#read(() => this.#control.secrets(partition, now));
  }

  async addSecret(secret: SigningSecret, othersExpireAt: Instant): Promise<void> {
    await this.#writer.run(verbs.addSecret(secret, othersExpireAt));
  }

  hasEndpointSecrets(partition: Partition, now: Instant): Promise<boolean> {
    return this.#read(() => this.#control.hasEndpointSecrets(partition, now));
  }

  listEndpointSecrets(
    partition: Partition,
    endpointId: EndpointId,
    now: Instant,
  ): Promise<readonly EndpointSecret[]> {
    return this.#read(() => this.#control.endpointSecrets(partition, endpointId, now));
  }

  changeEndpointSecrets(change: EndpointSecretsChange): Promise<'done' | 'stale' | 'missing'> {
    return this.#writer.run(verbs.changeEndpointSecrets(change));
  }

  readClock(): Promise<Instant> {
    return this.#read(() => this.#cluster.clock());
  }

  async renewLease(lease: NodeLease): Promise<ClusterState> {
    await this.#writer.run(verbs.renewLease(lease));
    return this.#readNow(() => this.#cluster.state());
  }

  async takeSlots(node: string, seen: readonly Pick<SlotState, 'slot' | 'epoch'>[]): Promise<Fence> {
    const answers = await this.#writer.runAll<'stale'>(seen.map((one) => verbs.takeSlot(node, one)));
    return toFence(node, seen, answers);
  }

  async releaseSlots(fence: Fence): Promise<void> {
    if (fence.epochs.size > 0) await this.#writer.run(verbs.releaseSlots(fence));
  }

  async leave(node: string): Promise<void> {
    await this.#writer.run(verbs.leave(node));
  }

  removeDeadNode(lease: NodeLease): Promise<'done' | 'stale'> {
    return this.#writer.run(verbs.removeDeadNode(lease));
  }

  async close(): Promise<void> {
    await this.#insight.close();
    await this.#writer.close();
    this.#reader.close();
    this.#lock?.release();
  }
}

function readFrom<T>(reader: Db, read: () => T): T {
  if (!reader.open) throw new StoreUnavailable('The store is closed.');
  return unavailableInstead(read);
}

function openThread(data: WriterData): Promise<WriteQueue> {
  return Writer.open(data);
}

function ensureDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StoreUnavailable(`The data directory ${directory} cannot be created.`, { cause: error });
  }
}

function prepareFile(path: string, { now, migrate: mayMigrate = true, durable }: SqliteOptions): void {
  const isNew = !existsSync(path);
  if (isNew && !mayMigrate) throw new StoreUnavailable(`There is no database ${path}.`);
  const db = openForWriting(path, durable);
  try {
    if (isNew) chmodSync(path, 0o600);
    if (mayMigrate) migrate(db, now);
    else requireCurrent(db);
  } finally {
    db.close();
  }
}
