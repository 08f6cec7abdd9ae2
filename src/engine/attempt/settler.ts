/**
 * Ends attempts: attempt closed, delivery moved, schedule completed, in one step. It is decided on the schedule
 * as it was known when the delivery was claimed; if that has changed since, the store says so, and it is
 * decided again. A claim that is no longer ours is left alone. A store that is away is waited for: the
 * outcome is known nowhere else.
 *
 * AttemptRunner that end while others are being settled are settled together after them. One that the store fails on
 * must not keep the others from it: after a failure each goes alone.
 */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import { type AttemptResult, settle } from '#src/domain/delivery-life.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { FiringSchedule } from '#src/domain/schedule.ts';
import { completedBy } from '#src/domain/schedule-life.ts';
import { type EngineDependencies, pause } from '#src/engine/dependencies.ts';
import { OutageLog } from '#src/engine/outage-log.ts';
import type { SettleWrite } from '#src/ports/store.ts';

export interface AttemptInFlight {
  /** Claimed. */
  readonly delivery: Delivery;
  readonly attempt: Attempt;
  readonly schedule: FiringSchedule;
}

const RETRY_MS = 500;
const TOGETHER_MAX = 256;

type Answer = 'done' | 'stale' | undefined;

interface Waiting {
  readonly write: SettleWrite;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export class Settler {
  readonly #dependencies: EngineDependencies;
  readonly #waiting: Waiting[] = [];
  readonly #outage: OutageLog;
  #isWriting = false;
  #isGivingUp = false;

  constructor(dependencies: EngineDependencies) {
    this.#dependencies = dependencies;
    const { log, timers } = dependencies;
    this.#outage = new OutageLog(timers, {
      failed: (fields, count) => log.error({ ...fields, count }, 'an attempt could not be settled yet'),
      recovered: (failures) => log.info({ failures }, 'attempts are settled again'),
    });
  }

  /** The settled attempt; null when the claim was not ours any more. */
  async settle(given: AttemptInFlight, result: AttemptResult, endedAt: Instant): Promise<SettleWrite | null> {
    const { store, timers } = this.#dependencies;
    let hasFailed = false;
    for (let current: AttemptInFlight | null = given; current !== null; ) {
      try {
        const write = decide(current, result, endedAt);
        const answer = hasFailed ? (await store.settle([write]))[0] : await this.#together(write);
        this.#outage.succeeded();
        if (answer === 'done') return write;
        current = await this.#again(current);
      } catch (error) {
        hasFailed = true;
        if (this.#isGivingUp) throw error;
        this.#outage.failed({ delivery: given.delivery.id, error: String(error) });
        await pause(timers, RETRY_MS);
      }
    }
    return null;
  }

  #together(write: SettleWrite): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const together = this.#waiting.splice(0, TOGETHER_MAX);
      try {
        const answers = await this.#dependencies.store.settle(together.map(({ write }) => write));
        for (const [index, { resolve }] of together.entries()) resolve(answers[index]);
      } catch (error) {
        for (const { reject } of together) reject(error);
      }
    }
    this.#isWriting = false;
  }

  /** The same attempt as things are now. */
  async #again({ delivery, attempt }: AttemptInFlight): Promise<AttemptInFlight | null> {
    const [work] = await this.#dependencies.store.loadDeliveries([delivery]);
    if (work === undefined || work === null) return null;
    const { claim } = work.delivery;
    if (claim === null || claim.token !== delivery.claim?.token) return null;
    return { delivery: work.delivery, attempt, schedule: work.schedule };
  }

  /** From now on a store that is away is not waited for. */
  giveUp(): void {
    this.#isGivingUp = true;
    this.#outage.stop();
  }
}

function decide(
  { delivery, attempt, schedule }: AttemptInFlight,
  result: AttemptResult,
  endedAt: Instant,
): SettleWrite {
  const settled = settle(delivery, attempt, result, schedule, endedAt);
  return {
    delivery: settled.delivery,
    attempt: settled.attempt,
    decidedUnder: schedule.state,
    completed: completedBy(schedule, settled.delivery, endedAt),
  };
}
