/**
 * Sends due deliveries. It sleeps until the instant of the next known delivery. Then the delivery enters the queue of
 * its endpoint. As permits are free, batches are taken from the queues and handed to the claimer.
 */
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { AttemptsInFlight } from '#src/engine/attempt/attempts-in-flight.ts';
import type { Claimer } from '#src/engine/claim/claimer.ts';
import type { BatchesInFlight } from '#src/engine/queue/batches-in-flight.ts';
import type { ClaimPause } from '#src/engine/queue/claim-pause.ts';
import type { DueQueue } from '#src/engine/queue/due-queue.ts';
import type { FairQueue, Punctuality } from '#src/engine/queue/fair-queue.ts';
import type { Waker } from '#src/engine/queue/waker.ts';
import type { WorkQueue } from '#src/engine/queue/work-queue.ts';
import type { Clock } from '#src/ports/system.ts';
import type { EventLoopBudget } from './event-loop-budget.ts';

export interface DispatcherDependencies {
  readonly clock: Clock;
  readonly upcoming: Pick<DueQueue, 'nextAt'>;
  readonly ready: Pick<FairQueue, 'overdue'>;
  readonly queue: WorkQueue;
  readonly waker: Waker;
  readonly claimPause: ClaimPause;
  readonly batches: BatchesInFlight;
  readonly attempts: AttemptsInFlight;
  readonly budget: EventLoopBudget;
  readonly claimer: Claimer;
}

export class Dispatcher {
  readonly #dependencies: DispatcherDependencies;
  /** The work that is served first gets the permits when they are scarce. */
  #servedFirst: Punctuality = 'in_time';

  constructor(dependencies: DispatcherDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    const { queue, waker } = this.#dependencies;
    queue.open();
    waker.start(() => this.#dispatch());
  }

  /** Nothing more is claimed; attempts that were claimed go on. */
  stop(): void {
    const { queue, waker } = this.#dependencies;
    queue.close();
    waker.stop();
  }

  /** Moves what is due into the queue of its endpoint, begins the batches that may go, and sleeps until the next. */
  #dispatch(): void {
    const { upcoming, ready, queue, budget, waker } = this.#dependencies;
    // Due work enters the queue at its instant, even while no batch may begin. Later it would count as overdue.
    queue.moveDue(budget.dueMax);
    const isOverdueFirst = this.#servedFirst === 'overdue';
    const hasBegunOverdue = isOverdueFirst && this.#begin('overdue');
    let hasBegunInTime = false;
    while (this.#begin('in_time')) hasBegunInTime = true;
    const isOverdueServed = hasBegunOverdue || this.#begin('overdue');
    const isOverduePassedOver = !isOverdueServed && (isOverdueFirst || hasBegunInTime) && ready.overdue > 0;
    this.#servedFirst = isOverduePassedOver ? 'overdue' : 'in_time';
    waker.sleepUntil(upcoming.nextAt());
  }

  /** Begins one more batch. False when none may begin, or nothing waits. */
  #begin(punctuality: Punctuality): boolean {
    const { queue, claimPause, batches, attempts, budget } = this.#dependencies;
    const max = budget.batchMax(punctuality);
    if (max === 0 || claimPause.isPaused || attempts.isFull || batches.isFull(punctuality)) return false;
    const batch = queue.take(punctuality, max, budget.ofEachMax(punctuality));
    if (batch.length === 0) return false;
    void this.#claim(punctuality, batch, max);
    budget.began(punctuality, batch.length);
    return true;
  }

  async #claim(punctuality: Punctuality, batch: readonly DueDelivery[], max: number): Promise<void> {
    const { clock, batches, budget, claimer, waker } = this.#dependencies;
    const startedAt = clock.now();
    await batches.add(punctuality, claimer.claim(batch));
    budget.ended(punctuality, batch.length, max, clock.now() - startedAt);
    waker.soon();
  }
}
