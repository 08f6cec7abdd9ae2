/**
 * Fires what is due. It sleeps until the earliest delivery it knows of, and is woken for an earlier one; at
 * its instant a delivery enters the queue of its endpoint, and from there, as permits are free, batches are
 * taken: read, judged by the gate, claimed in one step, sent.
 *
 * Whoever changed a delivery in the meantime wins: the claim is conditional on the revision that was read.
 * Nothing here is remembered that the store does not know: what is dropped, by a full queue or a store that is
 * away, is found again by looking (`look-out.ts`), at least once a second. Timers are monotonic and the clock
 * is asked again on waking, so that a clock that is set back or ahead fires nothing early and loses nothing.
 *
 * In a cluster only what lies in this node's slots is fired. What is in memory may have ceased to: it is dropped
 * when its turn comes.
 */
import type { DueDelivery } from '#src/domain/due.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { RequestBuilder } from '#src/engine/attempt/request-builder.ts';
import { BATCH_MAX, Claimer } from '#src/engine/claim/claimer.ts';
import { PayloadLoader } from '#src/engine/claim/payload-loader.ts';
import { NO_PEERS } from '#src/engine/cluster/peer-hints.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { Queue, Sending } from '#src/engine/delivery-stages.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { DueScanner, SCAN_AHEAD_MS } from '#src/engine/due/due-scanner.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';
import { type Load, Prefetcher } from '#src/engine/prefetch/prefetcher.ts';
import { DueQueue } from '#src/engine/queue/due-queue.ts';
import { FairQueue, type Punctuality } from '#src/engine/queue/fair-queue.ts';
import type { StatsRecorder } from '#src/engine/upkeep/stats-recorder.ts';
import type { Hints, Peers } from '#src/ports/hints.ts';
import { PeriodicTask, SOON_MS } from '#src/ports/periodic-task.ts';
import { SlowedTimers } from '#src/ports/slowed-timers.ts';
import { OverdueBatchSize } from './overdue-batch-size.ts';

/** Time from the beginning of one look to the beginning of the next. */
const LOOK_EVERY_MS = 900;
/** Between two looks behind, while there is more and enough to do. */
const LOOK_ON_MS = 200;
/** No timer sleeps longer, whatever the clock says. */
const SLEEP_MS_MAX = 60_000;
/** Below so many overdue in memory, more are looked for at once. */
const OVERDUE_LOW = 2_000;
/** After the store failed. */
const STORE_REST_MS = 500;
/** So late, and a delivery counts as overdue work. */
const OVERDUE_AFTER_MS = 1_000;
/** Batches that are claimed at one time. Overdue work gets fewer: it has waited already. */
const BATCHES_MAX: Readonly<Record<Punctuality, number>> = { in_time: 4, overdue: 2 };
/**
 * Deliveries that become due, and that begin, in one turn of the event loop. The others follow in the next turn, so
 * that the rest of the service works between. They are fewer where customers share the process. A step of overdue work
 * follows after `stepMs`: where a customer is alone, writes of more of them share a commit.
 */
const TOGETHER = {
  alone: { due: 256, begun: 4 * BATCH_MAX, stepMs: 1 },
  shared: { due: 64, begun: BATCH_MAX / 2, stepMs: 0 },
};
/** Deliveries of one customer that begin before it rests, where customers share the process. */
const OF_EACH_MAX = 16;
/** What comes this soon must not find the way taken. */
const IMMINENT_MS = 20;

/** The looks for due work, see `look-out.ts`. */
type Direction = 'ahead' | 'rest' | 'behind';

export class Dispatcher implements Hints, Queue {
  readonly #dependencies: EngineDependencies;
  readonly #ownership: SlotOwnership;
  readonly #peers: Peers;
  readonly #sending: Sending;
  readonly #dueQueue = new DueQueue();
  /** Timers for bulk work, which leaves time to everything else. */
  readonly #slowed: SlowedTimers;
  readonly #queue: FairQueue;
  readonly #ahead: Prefetcher;
  readonly #firing: Claimer;
  readonly #scanner: DueScanner;
  /** Apart: however much lies behind, what comes next is looked for in time. */
  readonly #looks: Readonly<Record<Direction, PeriodicTask>>;
  #callOffWake: (() => void) | null = null;
  #wakeAt: Instant | null = null;
  readonly #batches: Readonly<Record<Punctuality, Set<Promise<void>>>> = {
    in_time: new Set(),
    overdue: new Set(),
  };
  readonly #stride = new OverdueBatchSize();
  readonly #outage: OutageLog;
  readonly #lookOutage: OutageLog;
  #isBetweenSteps = false;
  #areSomeResting = false;
  /** Deliveries in time that began in this turn of the event loop. */
  #begunTogether = 0;
  #isOverduePassedOver = false;
  #isTurnComing = false;
  #isResting = false;
  #hasLookedAhead = false;
  readonly #failedLooks = new Set<Direction>();
  #state: 'new' | 'running' | 'stopped' = 'new';

  constructor(
    dependencies: EngineDependencies,
    ownership: SlotOwnership,
    gates: Gates,
    sending: Sending,
    builder: RequestBuilder,
    stats: Pick<StatsRecorder, 'ended'>,
    permitsMax?: number,
  ) {
    this.#dependencies = dependencies;
    this.#queue = new FairQueue(permitsMax);
    this.#ownership = ownership;
    this.#peers = dependencies.cluster?.peers ?? NO_PEERS;
    this.#sending = sending;
    this.#outage = warnsOfOutage(dependencies, 'due work could not be claimed', 'due work is claimed again');
    this.#lookOutage = warnsOfOutage(
      dependencies,
      'due work could not be looked for',
      'due work is looked for again',
    );
    const { timers } = dependencies;
    const queue = this.#queue;
    const isShared = () => this.#isShared;
    this.#slowed = new SlowedTimers(timers, isShared);
    const slowed = { ...dependencies, timers: this.#slowed };
    this.#ahead = new Prefetcher(slowed, ownership, gates, builder, () => this.#load(), isShared);
    this.#firing = new Claimer(dependencies, {
      ownership,
      gates,
      sending,
      queue: this,
      ahead: this.#ahead,
      bodies: new PayloadLoader(slowed, builder),
      stats,
    });
    this.#scanner = new DueScanner(
      dependencies,
      ownership,
      {
        ahead: (due) => this.#foresee(due),
        hasRoomAhead: (partition) => this.#dueQueue.hasRoom(partition),
        behind: (due) => queue.add(due, this.#punctuality(due)),
        get hasRoomBehind() {
          return queue.hasRoom;
        },
        pageRead: () => this.#turn(),
      },
      this.#slowed,
    );
    this.#looks = {
      ahead: new PeriodicTask(timers, () => this.#look('ahead')),
      rest: new PeriodicTask(timers, () => this.#look('rest')),
      behind: new PeriodicTask(timers, () => this.#look('behind')),
    };
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  get inFlight(): number {
    return this.#queue.inFlight;
  }

  /** Whether due work is found and claimed as it should be. */
  get isFiring(): boolean {
    const hasLooked = this.#hasLookedAhead && this.#failedLooks.size === 0;
    return this.#state === 'running' && hasLooked && !this.#isResting;
  }

  start(): void {
    this.#state = 'running';
    this.#lookNow();
  }

  /** Nothing more is claimed; what is claimed goes on. */
  stop(): void {
    this.#state = 'stopped';
    this.#callOffWake?.();
    for (const look of Object.values(this.#looks)) look.stop();
    this.#ahead.stop();
  }

  due(due: DueDelivery | null): void {
    if (due !== null) this.#ahead.forget(due.id);
    if (due === null || due.dueAt > this.#dependencies.clock.now() + SCAN_AHEAD_MS) return;
    if (this.#isOurs(due)) this.#wait(due);
    else this.#peers.due(due);
  }

  /** Another node said so. */
  hinted(due: DueDelivery): void {
    this.#ahead.forget(due.id);
    if (this.#isOurs(due) && due.dueAt <= this.#dependencies.clock.now() + SCAN_AHEAD_MS) this.#wait(due);
  }

  #isOurs(due: DueDelivery): boolean {
    return this.#ownership.epochOf(due) !== null;
  }

  #wait(due: DueDelivery): void {
    if (this.#state !== 'running' || !this.#foresee(due)) return;
    if (due.dueAt <= this.#dependencies.clock.now()) this.turnSoon();
    else if (this.#wakeAt === null || due.dueAt < this.#wakeAt) this.#sleep();
  }

  /** False when there is no room. */
  #foresee(due: DueDelivery): boolean {
    const hasRoom = this.#dueQueue.add(due);
    if (hasRoom && due.dueAt > this.#dependencies.clock.now()) this.#ahead.want(due);
    return hasRoom;
  }

  #load(): Load {
    const { in_time: inTime, overdue } = this.#batches;
    if (inTime.size >= BATCHES_MAX.in_time) return 'busy';
    const nextAt = this.#dueQueue.nextAt();
    const isSoon = nextAt !== null && nextAt - this.#dependencies.clock.now() < IMMINENT_MS;
    return isSoon || this.#isShared || inTime.size + overdue.size > 0 ? 'some' : 'calm';
  }

  rescan(): void {
    if (this.#state !== 'running') return;
    for (const look of Object.values(this.#looks)) look.runSoon();
  }

  /** There is more to look at than before. */
  rescanAll(): void {
    this.#scanner.beginAnew();
    if (this.#state === 'running') this.#lookNow();
  }

  #lookNow(): void {
    for (const look of Object.values(this.#looks)) look.runNow();
  }

  /** Resolves when no batch that is under way now is under way any more. */
  async batchesEnd(): Promise<void> {
    await Promise.all([...this.#batches.in_time, ...this.#batches.overdue]);
    await this.#firing.loaded();
  }

  get isStopped(): boolean {
    return this.#state === 'stopped';
  }

  forget(due: DueDelivery): void {
    this.#queue.forget(due);
    this.#outage.succeeded();
  }

  releaseDeferred(deferred: readonly DueDelivery[]): Promise<void> {
    return this.#firing.releaseDeferred(deferred);
  }

  /** Its permits are free again. */
  release(due: DueDelivery): void {
    this.#queue.release(due);
    this.turnSoon();
  }

  /** Answers after how many milliseconds to look again; null: when there is something left. */
  async #look(direction: Direction): Promise<number | null> {
    const begunAt = this.#dependencies.clock.now();
    try {
      await this.#scanner[direction]();
      this.#hasLookedAhead ||= direction === 'ahead';
      this.#failedLooks.delete(direction);
      this.#lookOutage.succeeded();
    } catch (error) {
      this.#failedLooks.add(direction);
      this.#lookOutage.failed({ error: String(error) });
      return LOOK_EVERY_MS;
    }
    this.#turn();
    if (direction === 'behind') return this.#lookBehindAfterMs();
    if (this.#scanner.isMoreAhead) this.#looks.rest.runSoon();
    // The clock may have been set back.
    const tookMs = Math.max(this.#dependencies.clock.now() - begunAt, 0);
    return direction === 'ahead' ? Math.max(LOOK_EVERY_MS - tookMs, SOON_MS) : null;
  }

  #lookBehindAfterMs(): number {
    if (!this.#scanner.isMoreBehind) return LOOK_EVERY_MS;
    // What was found to be in memory already will be there a moment later too.
    const isWorthwhile = this.#scanner.hasFoundBehind && this.#queue.overdue < OVERDUE_LOW;
    return isWorthwhile ? SOON_MS : LOOK_ON_MS;
  }

  /** There may be room for more. */
  turnSoon(): void {
    if (this.#isTurnComing) return;
    this.#isTurnComing = true;
    queueMicrotask(() => this.#turn());
  }

  /** Moves what is due into its queue, starts what may go, and sleeps until the next. */
  #turn(): void {
    this.#isTurnComing = false;
    if (this.#state !== 'running') return;
    for (const due of this.#dueQueue.take(this.#dependencies.clock.now(), this.#together.due)) {
      if (this.#isOurs(due)) this.#queue.add(due, this.#punctuality(due));
    }
    // Where permits are scarce, who is asked first gets them: that is overdue work once it has been passed over.
    let isPassedOver = this.#isOverduePassedOver;
    const hasStepped = isPassedOver && this.#step();
    while (this.#beginInTime()) isPassedOver = true;
    this.#isOverduePassedOver = !hasStepped && !this.#step() && isPassedOver && this.#queue.overdue > 0;
    this.#sleep();
  }

  /** Whether more than one customer has something that is due soon or under way. */
  get #isShared(): boolean {
    if (this.#dueQueue.isShared) return true;
    const soon = this.#dueQueue.someCustomer;
    const customer = soon === null ? this.#queue.someCustomer : `${soon}`;
    return customer !== null && this.#queue.hasOthersThan(customer);
  }

  get #together(): (typeof TOGETHER)['alone'] {
    return this.#isShared ? TOGETHER.shared : TOGETHER.alone;
  }

  #beginInTime(): boolean {
    const left = this.#together.begun - this.#begunTogether;
    const begun = left <= 0 ? 0 : this.#begin('in_time', Math.min(left, BATCH_MAX));
    if (begun === 0) return false;
    if (this.#begunTogether === 0) {
      this.#dependencies.timers.after(0, () => {
        this.#begunTogether = 0;
        this.#turn();
      });
    }
    this.#begunTogether += begun;
    this.#restSome();
    return true;
  }

  /** Customers of whom many were begun wait until bulk work may go on. */
  #restSome(): void {
    if (this.#areSomeResting) return;
    this.#areSomeResting = true;
    this.#slowed.after(0, () => {
      this.#areSomeResting = false;
      this.#queue.endRests('in_time');
      this.#turn();
    });
  }

  /** Begins a step of overdue work: at most one in each turn of the event loop. */
  #step(): boolean {
    if (this.#isBetweenSteps || this.#begin('overdue', this.#stride.length) === 0) return false;
    this.#isBetweenSteps = true;
    this.#slowed.after(this.#together.stepMs, () => {
      this.#isBetweenSteps = false;
      this.#turn();
    });
    return true;
  }

  /** One more batch: of so many deliveries, none where nothing may go. */
  #begin(punctuality: Punctuality, limit: number): number {
    const batches = this.#batches[punctuality];
    if (this.#isResting || this.#sending.isSaturated || batches.size >= BATCHES_MAX[punctuality]) return 0;
    const batch = this.#queue.take(punctuality, limit, this.#ofEachMax(punctuality));
    if (batch.length === 0) return 0;
    const begunAt = this.#dependencies.clock.now();
    const fired = this.#firing.fire(batch).finally(() => {
      batches.delete(fired);
      const isStep = punctuality === 'overdue' && batch.length === limit;
      if (isStep) this.#stride.took(this.#dependencies.clock.now() - begunAt);
      this.turnSoon();
    });
    batches.add(fired);
    return batch.length;
  }

  #ofEachMax(punctuality: Punctuality): number {
    return punctuality === 'in_time' && this.#isShared ? OF_EACH_MAX : Number.POSITIVE_INFINITY;
  }

  #punctuality({ dueAt }: DueDelivery): Punctuality {
    return this.#dependencies.clock.now() - dueAt > OVERDUE_AFTER_MS ? 'overdue' : 'in_time';
  }

  #sleep(): void {
    this.#callOffWake?.();
    this.#callOffWake = null;
    this.#wakeAt = this.#dueQueue.nextAt();
    if (this.#wakeAt === null || this.#state !== 'running') return;
    const ms = Math.min(Math.max(this.#wakeAt - this.#dependencies.clock.now(), 0), SLEEP_MS_MAX);
    this.#callOffWake = this.#dependencies.timers.after(ms, () => this.#turn());
  }

  /** The store is away: nothing is claimed for a moment. What was dropped is found again. */
  rest(error: unknown): void {
    this.#outage.failed({ error: String(error) });
    if (this.#isResting) return;
    this.#isResting = true;
    this.#dependencies.timers.after(STORE_REST_MS, () => {
      this.#isResting = false;
      this.rescan();
    });
  }
}
