/**
 * Clients create one-shots that are due a moment later, for receivers of every behaviour. Another client
 * moves the next occurrence of recurring schedules near. The load records everything that was acknowledged.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import type { Receiver } from '#test/receiver/receiver.ts';
import { ANSWER_AT_ONCE, type Ledger, type PlannedAnswer } from './ledger.ts';
import type { RetryingClient } from './retrying-client.ts';

export interface LoadOptions {
  readonly client: RetryingClient;
  readonly receiver: Receiver;
  readonly ledger: Ledger;
  readonly seed: number;
  readonly clients: number;
  /** The longest pause between two creates of a client. */
  readonly pauseMsMax: number;
  /** The timeout of the endpoint profiles. The default is that of the service. */
  readonly timeout?: string;
}

interface Schedule {
  readonly id: string;
}

const PROFILES = 4;
const RECURRING = 6;
const DELAY_MS = [1_000, 3_000] as const;
const SLOW_MS = [100, 700] as const;
const FAILURES_MAX = 3;
const PATIENT = { max_attempts: 12, base: '40ms', factor: 1.5, max: '600ms' };
/** Fewer failures than open a breaker. */
const IMPATIENT = { ...PATIENT, max_attempts: 3 };
/** The breaker opens and closes within the run, so that kills also hit its state. */
const SHORT_BREAKER = { threshold: 5, base_open: '200ms', max_open: '1s', probe_timeout: '1s' };

type ReceiverKind = 'quick' | 'slow' | 'flaky' | 'failing' | 'profile';

export class Load {
  readonly #options: LoadOptions;
  readonly acknowledged = new Map<string, 'one_shot' | 'recurring'>();
  /** Occurrences that were moved near. */
  moves = 0;
  #profiles: readonly string[] = [];
  #count = 0;
  #isOver = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#profiles = await Promise.all(Array.from({ length: PROFILES }, (_, i) => this.#profile(i)));
    const recurring = await Promise.all(Array.from({ length: RECURRING }, (_, i) => this.#recurring(i)));
    const clients = Array.from({ length: this.#options.clients }, (_, i) => this.#client(i));
    this.#work = Promise.all([...clients, this.#mover(recurring)]);
    // The error is reported at the end. Until then it must not be an unhandled rejection.
    this.#work.catch(() => {});
  }

  /** Resolves when every call in flight has been answered. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }

  async #client(number: number): Promise<void> {
    const prng = Prng.of(this.#options.seed, number);
    while (!this.#isOver) {
      await this.#oneShot(prng);
      await sleep(prng.int(this.#options.pauseMsMax));
    }
  }

  async #mover(ids: readonly string[]): Promise<void> {
    const prng = Prng.of(this.#options.seed, -1);
    for (let n = 0; !this.#isOver; n++) {
      const path = `/v1/schedules/${prng.pick(ids)}/reschedule`;
      const delay = `${prng.between(...DELAY_MS)}ms`;
      await this.#options.client.create(path, `move ${n}`, { delay });
      this.moves += 1;
      await sleep(prng.int(4 * this.#options.pauseMsMax));
    }
  }

  async #oneShot(prng: Prng): Promise<void> {
    const kind = prng.weighted<ReceiverKind>([
      [5, 'quick'],
      [2, 'slow'],
      [2, 'flaky'],
      [1, 'failing'],
      [2, 'profile'],
    ]);
    const name = `${kind}/${this.#count++}`;
    const destination =
      kind === 'profile'
        ? { endpoint_id: prng.pick(this.#profiles) }
        : { endpoint: this.#hook(name, planOf(kind, prng)) };
    const { id } = await this.#options.client.create<Schedule>('/v1/schedules', name, {
      ...destination,
      delay: `${prng.between(...DELAY_MS)}ms`,
      retry_policy: kind === 'failing' ? IMPATIENT : PATIENT,
      headers: { 'X-Load': name },
      body: JSON.stringify({ name }),
    });
    this.acknowledged.set(id, 'one_shot');
  }

  async #recurring(number: number): Promise<string> {
    const name = `recurring/${number}`;
    const { id } = await this.#options.client.create<Schedule>('/v1/schedules', name, {
      endpoint: this.#hook(name, () => ANSWER_AT_ONCE),
      cron: '0 0 1 1 *',
      retry_policy: PATIENT,
    });
    this.acknowledged.set(id, 'recurring');
    return id;
  }

  async #profile(number: number): Promise<string> {
    const { seed, timeout } = this.#options;
    const url = this.#hook(`profile-${number}`, (deliveryId, attemptNo) => {
      const prng = Prng.of(seed, hashOf(`${deliveryId} ${attemptNo}`));
      const isFailure = attemptNo <= FAILURES_MAX && prng.chance(0.25);
      return {
        status: isFailure ? 500 : 200,
        afterMs: prng.chance(0.2) ? prng.between(...SLOW_MS) : 0,
      };
    });
    const { id } = await this.#options.client.create<Schedule>('/v1/endpoints', `endpoint ${number}`, {
      url,
      ...(timeout === undefined ? {} : { timeout }),
      breaker_policy: SHORT_BREAKER,
      retry_budget: { rate: 100, burst: 1_000 },
    });
    return id;
  }

  #hook(name: string, plan: (deliveryId: string, attemptNo: number) => PlannedAnswer): string {
    return this.#options.receiver.hookAt(`/${name}`, this.#options.ledger.behaviour(plan)).url;
  }
}

function planOf(kind: ReceiverKind, prng: Prng): (deliveryId: string, attemptNo: number) => PlannedAnswer {
  const failures = prng.between(1, FAILURES_MAX);
  const afterMs = prng.between(...SLOW_MS);
  return (_, attemptNo) => {
    if (kind === 'slow') return { status: 200, afterMs };
    const isFailure = kind === 'failing' || (kind === 'flaky' && attemptNo <= failures);
    return { status: isFailure ? 500 : 200, afterMs: 0 };
  };
}

function hashOf(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}
