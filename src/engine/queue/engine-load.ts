/**
 * How busy the engine is, and whether several customers share it. Work that can wait slows down by this: prefetches,
 * overdue and remaining scans, overdue batches, and reads of large payloads.
 */
import type { Clock } from '#src/ports/system.ts';
import type { BatchesInFlight } from './batches-in-flight.ts';
import type { DueQueue } from './due-queue.ts';
import type { FairQueue } from './fair-queue.ts';

/** A delivery that is due this soon must not wait behind other work. */
const IMMINENT_MS = 20;

/** `busy`: no further batch of work in time can begin. */
export type LoadLevel = 'idle' | 'some' | 'busy';

export interface EngineLoadDependencies {
  readonly clock: Clock;
  readonly upcoming: DueQueue;
  readonly ready: FairQueue;
  readonly batches: BatchesInFlight;
}

export class EngineLoad {
  readonly #dependencies: EngineLoadDependencies;

  constructor(dependencies: EngineLoadDependencies) {
    this.#dependencies = dependencies;
  }

  get level(): LoadLevel {
    const { clock, upcoming, batches } = this.#dependencies;
    if (batches.isFull('in_time')) return 'busy';
    const nextAt = upcoming.nextAt();
    const isImminent = nextAt !== null && nextAt - clock.now() < IMMINENT_MS;
    return isImminent || this.isShared || batches.size > 0 ? 'some' : 'idle';
  }

  /** Whether more than one customer has deliveries that are due soon, waiting or in flight. */
  get isShared(): boolean {
    const { upcoming, ready } = this.#dependencies;
    if (upcoming.isShared) return true;
    const soon = upcoming.someCustomer;
    const customer = soon === null ? ready.someCustomer : `${soon}`;
    return customer !== null && ready.hasOthersThan(customer);
  }
}
