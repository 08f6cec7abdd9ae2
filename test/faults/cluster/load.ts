/**
 * Steady load: so many creates a second, each a moment ahead, through all nodes in turn and towards hundreds of
 * endpoints, so that every slot has work. Most are answered at once, some slowly, some after failures, some
 * never well. A few recurring schedules have their next occurrence moved near again and again. What comes back
 * from an outage goes on at its rate, and does not make up for it: lateness is to be the service's own.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import type { Receiver } from '#test/receiver/receiver.ts';
import { AT_ONCE, type Ledger, type Plan } from '../firing/ledger.ts';
import type { Front } from './front.ts';

export interface LoadOptions {
  readonly front: Front;
  readonly receiver: Receiver;
  readonly ledger: Ledger;
  readonly seed: number;
  readonly perSecond: number;
}

const PATHS = 600;
const SLOW_PATHS = 60;
const RECURRING = 12;
const MOVE_EVERY_MS = 150;
const DELAY_MS = [1_000, 4_000] as const;
const SLOW_MS = [100, 700] as const;
const FAILURES_MAX = 3;
const TICK_MS = 10;
const MS_PER_SECOND = 1_000;
/** Calls that have no answer yet. */
const UNANSWERED_MAX = 400;
const PATIENT = { max_attempts: 20, base: '40ms', factor: 1.5, max: '600ms' };
/** Fewer than open a breaker. */
const IMPATIENT = { ...PATIENT, max_attempts: 3 };

export type Temper = 'quick' | 'slow' | 'flaky' | 'hopeless';

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
    // Told of at the end; not to be an unhandled rejection until then.
    this.#work.catch(() => {});
  }

  /** When every call has been answered. */
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
    const temper = prng.weighted<Temper>([
      [80, 'quick'],
      [12, 'slow'],
      [5, 'flaky'],
      [3, 'hopeless'],
    ]);
    const name = `${temper}/${this.#count++}`;
    const { id } = await this.#options.front.create<{ readonly id: string }>('/v1/schedules', name, {
      endpoint: this.#endpoint(temper, name),
      delay: `${prng.between(...DELAY_MS)}ms`,
      retry_policy: temper === 'hopeless' ? IMPATIENT : PATIENT,
      body: JSON.stringify({ name }),
    });
    this.acknowledged.set(id, 'one_shot');
  }

  /** What fails has an endpoint of its own: no breaker opens. */
  #endpoint(temper: Temper, name: string): string {
    const prng = this.#prng;
    if (temper === 'quick') return this.#hook(`quick/${prng.int(PATHS)}`, () => AT_ONCE);
    if (temper === 'slow') {
      const afterMs = prng.between(...SLOW_MS);
      return this.#hook(`slow/${prng.int(SLOW_PATHS)}`, () => ({ status: 200, afterMs }));
    }
    const failures = temper === 'hopeless' ? Number.POSITIVE_INFINITY : prng.between(1, FAILURES_MAX);
    return this.#hook(name, (_, attemptNo) => ({ status: attemptNo <= failures ? 500 : 200, afterMs: 0 }));
  }

  async #recurring(number: number): Promise<string> {
    const name = `recurring/${number}`;
    const { id } = await this.#options.front.create<{ readonly id: string }>('/v1/schedules', name, {
      endpoint: this.#hook(name, () => AT_ONCE),
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
      await this.#options.front.create(path, `move ${this.moves}`, { delay });
      this.moves += 1;
      await sleep(MOVE_EVERY_MS);
    }
  }

  #hook(path: string, plan: (deliveryId: string, attemptNo: number) => Plan): string {
    const known = this.#paths.get(path);
    if (known !== undefined) return known;
    const { url } = this.#options.receiver.hookAt(`/${path}`, this.#options.ledger.behaviour(plan));
    this.#paths.set(path, url);
    return url;
  }
}
