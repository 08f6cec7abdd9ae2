/** The fixture of contract tests: one open store for many tests, and a new project for each test. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { AttemptResult } from '#src/domain/delivery-lifecycle.ts';
import type { EndpointProfile, FiringProfile } from '#src/domain/endpoint-profile.ts';
import { type DeliveryId, IdMint, type ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { CURRENT_VERSION } from '#src/domain/project.ts';
import type { FiringSchedule, Schedule, ScheduleView } from '#src/domain/schedule.ts';
import type { NewSchedule, ScheduleChange } from '#src/domain/schedule-lifecycle.ts';
import type { AlertStore } from '#src/ports/alert-store.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { ControlStore, Project } from '#src/ports/control-store.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { PeopleStore } from '#src/ports/people-store.ts';
import type { ReplayJobStore } from '#src/ports/replay-job-store.ts';
import type { LoadedDelivery, Receipt, Store } from '#src/ports/store.ts';
import type { SealedStore } from '#src/ports/vault.ts';
import { Builders, type Made, START, scheduleIdOf, seededBytes } from './builders.ts';
import { type Everything, readEverything } from './everything.ts';

export type AnyStore = Store &
  ControlStore &
  ClusterStore & {
    readonly people: PeopleStore;
    readonly insight: InsightStore;
    readonly jobs: ReplayJobStore;
    readonly alerts: AlertStore;
    readonly sealed: SealedStore;
  };

export interface Opened {
  readonly store: AnyStore;
  /** Closes the store and opens the same data again. */
  reopen(): Promise<AnyStore>;
  /** Closes the store and removes its data. */
  close(): Promise<void>;
}

export type Open = () => Promise<Opened>;

export class Suite {
  readonly open: Open;
  readonly ids = new IdMint(seededBytes(20_261_115));
  #opened: Opened | null = null;
  #store: AnyStore | null = null;
  #projects = 0;

  constructor(open: Open) {
    this.open = open;
  }

  async start(): Promise<void> {
    this.#opened = await this.open();
    this.#store = this.#opened.store;
  }

  async stop(): Promise<void> {
    await this.#opened?.close();
  }

  get store(): AnyStore {
    if (this.#store === null) throw new Error('The store is not open yet.');
    return this.#store;
  }

  async reopen(): Promise<void> {
    if (this.#opened === null) throw new Error('The store is not open yet.');
    this.#store = await this.#opened.reopen();
  }

  async project(): Promise<Project> {
    this.#projects += 1;
    const createdAt = instant(START + this.#projects);
    const project = await this.store.addProject({
      id: this.ids.mint('prj', createdAt),
      name: `project-${this.#projects}`,
      pinnedVersion: CURRENT_VERSION,
      createdAt,
    });
    if (project === 'taken') throw new Error('Project names of the suite must differ.');
    return project;
  }

  async fixture(): Promise<Fixture> {
    return new Fixture(this, await this.project());
  }
}

/** A separate store for a `describe` whose verbs affect all partitions. */
export function ownSuite(suite: Suite): Suite {
  const own = new Suite(suite.open);
  beforeAll(() => own.start());
  afterAll(() => own.stop());
  return own;
}

/** Builders for the `test` partition of a new project, and steps that many tests begin with. */
export class Fixture extends Builders {
  readonly project: Project;
  /** The other partition of the same project. Nothing may leak into it. */
  readonly neighbour: Partition;
  readonly #suite: Suite;
  readonly #receiptKeys = new Set<string>();

  constructor(suite: Suite, project: Project) {
    super(project.partitions.test, suite.ids);
    this.#suite = suite;
    this.project = project;
    this.neighbour = project.partitions.live;
  }

  get store(): AnyStore {
    return this.#suite.store;
  }

  reopen(): Promise<void> {
    return this.#suite.reopen();
  }

  override receipt(given: Partial<Receipt> = {}): Receipt {
    const receipt = super.receipt(given);
    this.#receiptKeys.add(receipt.key);
    return receipt;
  }

  async everything(): Promise<readonly [Everything, Everything]> {
    return [
      await readEverything(this.store, this.partition, this.#receiptKeys),
      await readEverything(this.store, this.neighbour, this.#receiptKeys),
    ];
  }

  /** Runs `act`, and expects that no data has changed. */
  async changesNothing<T>(act: () => Promise<T>): Promise<T> {
    const before = await this.everything();
    const result = await act();
    expect(await this.everything()).toEqual(before);
    return result;
  }

  async addMade(made: Made, profile: EndpointProfile | null = null): Promise<ScheduleView> {
    const written = await this.store.addSchedule({ ...made, payload: null, profile, receipt: null });
    expect(written).toBe('done');
    return this.view(made.schedule.id);
  }

  addSchedule(given: Partial<NewSchedule> = {}): Promise<ScheduleView> {
    return this.addMade(this.schedule(given), given.profile ?? null);
  }

  async addProfile(given: Partial<EndpointProfile> = {}): Promise<EndpointProfile> {
    const profile = this.profile(given);
    expect(await this.store.addProfile({ profile, headers: null, receipt: null })).toBe('done');
    return profile;
  }

  async view(id: ScheduleId): Promise<ScheduleView> {
    const view = await this.store.findSchedule(this.partition, id);
    if (view === null) throw new Error(`There is no ${id}.`);
    return view;
  }

  async delivery(id: DeliveryId): Promise<Delivery> {
    const delivery = await this.store.findDelivery(this.partition, id);
    if (delivery === null) throw new Error(`There is no ${id}.`);
    return delivery;
  }

  async pending(id: ScheduleId): Promise<Delivery> {
    return pendingOf(await this.view(id));
  }

  async load(delivery: Pick<Delivery, 'partition' | 'id'>): Promise<LoadedDelivery> {
    const [loaded = null] = await this.store.loadDeliveries([delivery]);
    if (loaded === null) throw new Error(`There is no ${delivery.id}.`);
    return loaded;
  }

  /** Stores a claim of the schedule's pending delivery. */
  async addClaim(view: ScheduleView, node?: string): Promise<ReturnType<Builders['claim']>> {
    const claimed = this.claim(pendingOf(view), view, node);
    expect(await this.store.claim([claimed])).toEqual(['done']);
    return claimed;
  }

  async addReplay(original: Delivery, given: Partial<Delivery> = {}): Promise<Delivery> {
    const delivery = { ...this.replay(original), ...given };
    expect(await this.store.addReplay({ delivery, receipt: null })).toBe('done');
    return delivery;
  }

  /** Decides by the domain rules on the stored schedule, and stores the decision. */
  async change(id: ScheduleId, decide: (view: ScheduleView) => ScheduleChange | null): Promise<ScheduleView> {
    const changed = decide(await this.view(id));
    if (changed === null) throw new Error('There is nothing to change.');
    expect(await this.store.replaceSchedule({ ...changed, receipt: null })).toBe('done');
    return this.view(id);
  }

  /** Claims a delivery and settles it with `result`. Both are stored. */
  async fire(delivery: Delivery, result: AttemptResult): Promise<Delivery> {
    const claimed = this.claim(delivery, await this.view(scheduleIdOf(delivery)));
    expect(await this.store.claim([claimed])).toEqual(['done']);
    const { schedule } = await this.view(scheduleIdOf(delivery));
    expect(await this.store.settle([this.settle(claimed, schedule, result)])).toEqual(['done']);
    return this.delivery(delivery.id);
  }
}

/** The fields of a schedule that firing reads. */
export function firingSchedule(schedule: Schedule): FiringSchedule {
  const { headerNames: _names, metadata: _labels, ...firing } = schedule;
  return firing;
}

/** The fields of a profile that firing reads. */
export function firingProfile(profile: EndpointProfile): FiringProfile {
  const { headerNames: _names, metadata: _labels, ...firing } = profile;
  return firing;
}

export function pendingOf({ pending }: ScheduleView): Delivery {
  if (pending === null) throw new Error('There is no pending delivery.');
  return pending;
}
