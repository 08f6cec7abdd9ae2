/**
 * Settles attempts: it stores the outcome, moves the delivery on and completes the schedule, in one write. The write is
 * decided by the schedule as it was when the delivery was claimed. If the schedule has changed since, the store refuses
 * the write and it is decided again. A claim that belongs to another node by now is left alone. While the store is away
 * the settler waits, because only this process knows the outcome.
 *
 * Attempts that end while others are being settled are settled together after them. After a failure each attempt is
 * settled on its own, so that one that the store fails on does not stop the others.
 *
 * If the store works by customer, those of each customer are settled apart, so that one who fails or is slow does not
 * affect the others. They wait a moment for each other, because such a store takes about as long for one as for many.
 */
import { type AttemptTiming, isInFlight } from '#src/domain/delivery.ts';
import { type AttemptResult, settle } from '#src/domain/delivery-lifecycle.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { completedBy } from '#src/domain/schedule-lifecycle.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { OutageLog } from '#src/engine/outage-log.ts';
import type { KeptResponse } from '#src/ports/kept-response.ts';
import { makeNotification } from '#src/ports/notifications.ts';
import type { SettleWrite, UnsettledAttempt } from '#src/ports/store.ts';
import { pause } from '#src/ports/system.ts';

const RETRY_MS = 500;
const BATCH_MAX = 256;
/**
 * Attempts of one customer wait for each other. The wait is a multiple of the time that the last write took, so more of
 * them share a write while the store is busy. Their permits are free already.
 */
const GATHERING_FACTOR = 10;
const GATHERING_MS_MIN = 100;
const GATHERING_MS_MAX = 500;

type Answer = 'done' | 'stale' | undefined;

interface Waiting {
  readonly write: SettleWrite;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export class Settler {
  readonly #dependencies: EngineDependencies;
  /** Attempts to be settled, by customer if the store works so. A list stays while it is being written. */
  readonly #waiting = new Map<Partition | null, Waiting[]>();
  readonly #outage: OutageLog;
  #gatheringMs = GATHERING_MS_MIN;
  #isStopping = false;

  constructor(dependencies: EngineDependencies) {
    this.#dependencies = dependencies;
    const { log, timers } = dependencies;
    this.#outage = new OutageLog(timers, {
      failed: (fields, count) => log.error({ ...fields, count }, 'an attempt could not be settled yet'),
      recovered: (failures) => log.info({ failures }, 'attempts are settled again'),
    });
  }

  /** Null when the claim did not belong to this node any more. */
  async settle(
    given: UnsettledAttempt,
    result: AttemptResult,
    endedAt: Instant,
    timing: AttemptTiming | null = null,
    response: KeptResponse | null = null,
  ): Promise<SettleWrite | null> {
    const { store, timers } = this.#dependencies;
    let hasFailed = false;
    for (let current: UnsettledAttempt | null = given; current !== null; ) {
      try {
        const write = await this.#told(decide(current, result, endedAt, timing, response));
        const isAlone = hasFailed || (store.worksByCustomer && isDueWithin(write, endedAt, GATHERING_MS_MAX));
        const answer = isAlone ? (await store.settle([write]))[0] : await this.#settleTogether(write);
        this.#outage.succeeded();
        if (answer === 'done') return write;
        current = await this.#reload(current);
      } catch (error) {
        hasFailed = true;
        if (this.#isStopping) throw error;
        this.#outage.failed({ delivery: given.delivery.id, error: String(error) });
        await pause(timers, RETRY_MS);
      }
    }
    return null;
  }

  /** Adds the notification of a delivery that ended. */
  async #told(write: SettleWrite): Promise<SettleWrite> {
    const { delivery, attempt, response } = write;
    const notification = await makeNotification(this.#dependencies, delivery, attempt.finishedAt, response);
    return notification === null ? write : { ...write, notification };
  }

  #settleTogether(write: SettleWrite): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const customer = this.#dependencies.store.worksByCustomer ? write.delivery.partition : null;
      const others = this.#waiting.get(customer);
      if (others !== undefined) {
        others.push({ write, resolve, reject });
        return;
      }
      const waiting = [{ write, resolve, reject }];
      this.#waiting.set(customer, waiting);
      void this.#writeAll(customer, waiting);
    });
  }

  /** Writes until none waits, also those that are added meanwhile. */
  async #writeAll(customer: Partition | null, waiting: Waiting[]): Promise<void> {
    const { store, timers } = this.#dependencies;
    while (waiting.length > 0) {
      if (customer !== null && !this.#isStopping) await pause(timers, this.#gatheringMs);
      const batch = waiting.splice(0, BATCH_MAX);
      try {
        const startedAt = timers.elapsed();
        const answers = await store.settle(batch.map(({ write }) => write));
        this.#gatheringMs = gatheringMs(timers.elapsed() - startedAt);
        for (const [index, { resolve }] of batch.entries()) resolve(answers[index]);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#waiting.delete(customer);
  }

  /** Reads the delivery and schedule of the attempt again. */
  async #reload({ delivery: { partition, id, claim } }: UnsettledAttempt): Promise<UnsettledAttempt | null> {
    const [loaded] = await this.#dependencies.store.loadDeliveries([{ partition, id }]);
    if (loaded === undefined || loaded === null) return null;
    const { delivery, schedule } = loaded;
    return isInFlight(delivery) && delivery.claim.attemptId === claim.attemptId
      ? { delivery, schedule }
      : null;
  }

  /** The settler no longer waits for a store that is unavailable. */
  stopWaiting(): void {
    this.#isStopping = true;
    this.#outage.stop();
  }
}

function gatheringMs(tookMs: number): number {
  return Math.min(Math.max(GATHERING_FACTOR * tookMs, GATHERING_MS_MIN), GATHERING_MS_MAX);
}

/** Whether the next attempt is due that soon. */
function isDueWithin({ delivery }: SettleWrite, endedAt: Instant, ms: number): boolean {
  return delivery.dueAt !== null && delivery.dueAt - endedAt < ms;
}

function decide(
  { delivery, schedule }: UnsettledAttempt,
  result: AttemptResult,
  endedAt: Instant,
  timing: AttemptTiming | null,
  response: KeptResponse | null,
): SettleWrite {
  const settled = settle(delivery, result, schedule, endedAt, timing);
  return {
    ...settled,
    decidedUnder: schedule?.state ?? null,
    completed: completedBy(schedule, settled.delivery, endedAt),
    response,
  };
}
