/**
 * How many deliveries may begin now. What begins in one turn of the event loop is bounded, so that the rest of the
 * service runs between. The bounds are smaller while several customers share the process.
 *
 * Overdue work begins one batch at a time, and the next one waits a moment after that. Where several customers share
 * the process, a customer of whom many deliveries began rests until work that can wait may go on.
 *
 * If the store works by customer, many deliveries begin together, so that each of its transactions has several.
 */
import { BATCH_MAX } from '#src/engine/claim/claimer.ts';
import type { EngineLoad } from '#src/engine/queue/engine-load.ts';
import type { FairQueue, Punctuality } from '#src/engine/queue/fair-queue.ts';
import type { Waker } from '#src/engine/queue/waker.ts';
import type { Store } from '#src/ports/store.ts';
import type { Timers } from '#src/ports/system.ts';
import { OverdueBatchSize } from './overdue-batch-size.ts';

interface Bounds {
  /** Deliveries that become ready in one turn of the event loop. */
  readonly due: number;
  /** Deliveries in time that begin in it. */
  readonly begun: number;
  /** Deliveries in time in one batch. */
  readonly batch: number;
  /** Deliveries in time of one customer that begin before it rests. */
  readonly ofEach: number;
  /** More writes share a commit if overdue work waits a moment. */
  readonly overdueWaitMs: number;
}

const ALONE: Bounds = {
  due: 256,
  begun: 4 * BATCH_MAX,
  batch: BATCH_MAX,
  ofEach: Number.POSITIVE_INFINITY,
  overdueWaitMs: 1,
};
const SHARED: Bounds = { due: 64, begun: BATCH_MAX / 2, batch: BATCH_MAX, ofEach: 16, overdueWaitMs: 0 };
const BY_CUSTOMER: Bounds = { due: 512, begun: 512, batch: 512, ofEach: 128, overdueWaitMs: 5 };
/** Overdue batches are as many times larger. */
const BY_CUSTOMER_FACTOR = 8;

export interface EventLoopBudgetDependencies {
  readonly timers: Timers;
  /** Timers for work that can wait: it slows down while several customers share the process. */
  readonly throttledTimers: Timers;
  readonly store: Pick<Store, 'worksByCustomer'>;
  readonly load: Pick<EngineLoad, 'isShared'>;
  readonly ready: Pick<FairQueue, 'endRests'>;
  readonly waker: Pick<Waker, 'soon'>;
}

export class EventLoopBudget {
  readonly #dependencies: EventLoopBudgetDependencies;
  readonly #overdueSize: OverdueBatchSize;
  /** Deliveries in time that began in this turn of the event loop. */
  #begun = 0;
  #overdueState: 'ready' | 'waiting' = 'ready';
  #restState: 'none' | 'resting' = 'none';

  constructor(dependencies: EventLoopBudgetDependencies) {
    this.#dependencies = dependencies;
    this.#overdueSize = new OverdueBatchSize(dependencies.store.worksByCustomer ? BY_CUSTOMER_FACTOR : 1);
  }

  /** Upcoming deliveries that may become ready now. */
  get dueMax(): number {
    return this.#bounds.due;
  }

  /** Deliveries that the next batch may have; 0 means that none may begin now. */
  batchMax(punctuality: Punctuality): number {
    if (punctuality === 'overdue') return this.#overdueState === 'waiting' ? 0 : this.#overdueSize.size;
    return Math.min(Math.max(this.#bounds.begun - this.#begun, 0), this.#bounds.batch);
  }

  /** Deliveries of one customer that the next batches may have until it rests. */
  ofEachMax(punctuality: Punctuality): number {
    return punctuality === 'in_time' ? this.#bounds.ofEach : Number.POSITIVE_INFINITY;
  }

  began(punctuality: Punctuality, deliveries: number): void {
    if (punctuality === 'overdue') this.#waitAfterOverdue();
    else {
      this.#countInTime(deliveries);
      this.#rest();
    }
  }

  /** A batch has ended after this time. It could have had up to `max` deliveries. */
  ended(punctuality: Punctuality, deliveries: number, max: number, tookMs: number): void {
    if (punctuality === 'overdue' && deliveries === max) this.#overdueSize.took(tookMs);
  }

  get #bounds(): Bounds {
    const { store, load } = this.#dependencies;
    if (store.worksByCustomer) return BY_CUSTOMER;
    return load.isShared ? SHARED : ALONE;
  }

  #countInTime(deliveries: number): void {
    const { timers, waker } = this.#dependencies;
    if (this.#begun === 0) {
      timers.after(0, () => {
        this.#begun = 0;
        waker.soon();
      });
    }
    this.#begun += deliveries;
  }

  #rest(): void {
    if (this.#restState === 'resting') return;
    this.#restState = 'resting';
    const { throttledTimers, ready, waker } = this.#dependencies;
    throttledTimers.after(0, () => {
      this.#restState = 'none';
      ready.endRests('in_time');
      waker.soon();
    });
  }

  #waitAfterOverdue(): void {
    this.#overdueState = 'waiting';
    const { throttledTimers, waker } = this.#dependencies;
    throttledTimers.after(this.#bounds.overdueWaitMs, () => {
      this.#overdueState = 'ready';
      waker.soon();
    });
  }
}
