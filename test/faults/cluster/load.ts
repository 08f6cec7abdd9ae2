/**
 * Steady load. It creates a fixed number of schedules per second, each due a moment later, through all nodes
 * in turn. They go to hundreds of endpoints, so that every slot has work. Most requests are answered at once,
 * some slowly, some after failures and some never with success. A few recurring schedules have their next
 * occurrence moved near again and again. After an outage the load continues at its rate and does not catch
 * up, so that lateness is caused by the service alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ANSWER_AT_ONCE, type Ledger, type PlannedAnswer } from '#test/faults/single-node/ledger.ts';
import { Prng } from '#test/fuzz/prng.ts';
import type { Receiver } from '#test/receiver/receiver.ts';
import type { LoadBalancer } from './load-balancer.ts';

export interface LoadOptions {
  readonly balancer: LoadBalancer;
  readonly receiver: Receiver;
  readonly ledger: Ledger;
  readonly seed: number;
  readonly perSecond: number;
  /** The percentage of deliveries whose receiver is slow, so that they are in flight for a while. */
  readonly slowPercent?: number | undefined;
}

/** Percentages of the load. The rest fails at first, or always. */
const QUICK_OR_SLOW = 92;
const SLOW_PERCENT = 12;
const PATHS = 600;
const SLOW_PATHS = 60;
const RECURRING = 12;
const MOVE_EVERY_MS = 150;
const DELAY_MS = [1_000, 4_000] as const;
const SLOW_MS = [100, 700] as const;
const FAILURES_MAX = 3;
const TICK_MS = 10;
const MS_PER_SECOND = 1_000;
/** The most calls without an answer yet. */
const UNANSWERED_MAX = 400;
const PATIENT = { max_attempts: 20, base: '40ms', factor: 1.5, max: '600ms' };
/** Fewer failures than open a breaker. */
const IMPATIENT = { ...PATIENT, max_attempts: 3 };

export type ReceiverKind = 'quick' | 'slow' | 'flaky' | 'failing';

export class Load {
  readonly #options: LoadOptions;
  readonly #prng: Prng;
  readonly #paths = new Map<string, string>();
  readonly #calls = new Set<Promise<void>>();
  readonly acknowledged = new Map<string, 'one_shot' | 'recurring'>();
  /** Calls that failed for good. */
  readonly failures: string[] = [];
  /** Occurrences that were moved near. */
  moves = 0;
  #count = 0;
  #isOver = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#prng = new Prng(options.seed);
  }

  async start(): Promise<void> {
    const recurring = await Promise.all(Array.from({ length: RECURRING }, (_, i) => this.#recurring(i)));
    this.#work = Promise.all([this.#create(), this.#move(recurring)]);
    // The error is reported at the end. Until then it must not be an unhandled rejection.
    this.#work.catch(() => {});
  }

  /** Resolves when every call has been answered. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#work;
    while (this.#calls.size > 0) await Promise.all(this.#calls);
  }

  async #create(): Promise<void> {
    const start = performance.now();
    let passed = 0;
    while (!this.#isOver) {
      await sleep(TICK_MS);
      const due = Math.floor(((performance.now() - start) * this.#options.perSecond) / MS_PER_SECOND);
      for (; passed < due; passed++) if (this.#calls.size < UNANSWERED_MAX) this.#begin();
    }
  }

  #begin(): void {
    const call = this.#oneShot()
      .catch((error: unknown) => void this.failures.push(String(error)))
      .finally(() => this.#calls.delete(call));
    this.#calls.add(call);
  }

  async #oneShot(): Promise<void> {
    const prng = this.#prng;
    const { slowPercent: slow = SLOW_PERCENT } = this.#options;
    const kind = prng.weighted<ReceiverKind>([
      [QUICK_OR_SLOW - slow, 'quick'],
      [slow, 'slow'],
      [5, 'flaky'],
      [3, 'failing'],
    ]);
    const name = `${kind}/${this.#count++}`;
    const { id } = await this.#options.balancer.create<{ readonly id: string }>('/v1/schedules', name, {
      endpoint: this.#endpoint(kind, name),
      delay: `${prng.between(...DELAY_MS)}ms`,
      retry_policy: kind === 'failing' ? IMPATIENT : PATIENT,
      body: JSON.stringify({ name }),
    });
    this.acknowledged.set(id, 'one_shot');
  }

  /** Failing deliveries have an endpoint each, so that no breaker opens. */
  #endpoint(kind: ReceiverKind, name: string): string {
    const prng = this.#prng;
    if (kind === 'quick') return this.#hook(`quick/${prng.int(PATHS)}`, () => ANSWER_AT_ONCE);
    if (kind === 'slow') {
      const afterMs = prng.between(...SLOW_MS);
      return this.#hook(`slow/${prng.int(SLOW_PATHS)}`, () => ({ status: 200, afterMs }));
    }
    const failures = kind === 'failing' ? Number.POSITIVE_INFINITY : prng.between(1, FAILURES_MAX);
    return this.#hook(name, (_, attemptNo) => ({ status: attemptNo <= failures ? 500 : 200, afterMs: 0 }));
  }

  async #recurring(number: number): Promise<string> {
    const name = `recurring/${number}`;
    const { id } = await this.#options.balancer.create<{ readonly id: string }>('/v1/schedules', name, {
      endpoint: this.#hook(name, () => ANSWER_AT_ONCE),
      cron: '0 0 1 1 *',
      retry_policy: PATIENT,
    });
    this.acknowledged.set(id, 'recurring');
    return id;
  }

  async #move(ids: readonly string[]): Promise<void> {
    while (!this.#isOver) {
      const path = `/v1/schedules/${this.#prng.pick(ids)}/reschedule`;
      const delay = `${this.#prng.between(...DELAY_MS)}ms`;
      await this.#options.balancer.create(path, `move ${this.moves}`, { delay });
      this.moves += 1;
      await sleep(MOVE_EVERY_MS);
    }
  }

  #hook(path: string, plan: (deliveryId: string, attemptNo: number) => PlannedAnswer): string {
    const known = this.#paths.get(path);
    if (known !== undefined) return known;
    const { url } = this.#options.receiver.hookAt(`/${path}`, this.#options.ledger.behaviour(plan));
    this.#paths.set(path, url);
    return url;
  }
}
