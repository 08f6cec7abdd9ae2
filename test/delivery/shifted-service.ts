/**
 * A service with a shifted clock, and a receiver for it. The clock that is set is the one that the service
 * uses: its own, or that of the database.
 */
import { expect } from 'vitest';
import { Api } from '#test/e2e/client.ts';
import { DatabaseClock } from '#test/process/database-clock.ts';
import { type RunningService, startCheapest } from '#test/process/run-command.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { type SettableClock, ThreadClock } from '#test/process/service-clock.ts';
import { IS_POSTGRES } from '#test/process/store-in-use.ts';
import type { Behaviour } from '#test/receiver/behaviours.ts';
import { type Hook, type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { audit } from './audit.ts';
import { expectNoSecrets, SETTINGS, SIGNING_SECRET, TEST_KEY } from './harness.ts';

export class ShiftedService implements AsyncDisposable {
  readonly api = Api.at(() => this.#sched.url).as(TEST_KEY);
  readonly receiver: Receiver;
  readonly #dataDir: string;
  readonly #clock: SettableClock;
  #sched: RunningService;

  private constructor(receiver: Receiver, sched: RunningService, clock: SettableClock) {
    this.receiver = receiver;
    this.#sched = sched;
    this.#dataDir = sched.dataDir;
    this.#clock = clock;
  }

  /** Starts a service whose clock shows `time`. */
  static async at(time: string): Promise<ShiftedService> {
    const receiver = await startReceiver();
    const dataDir = temporaryDirectory();
    const offsetMs = offsetTo(time);
    const clock = IS_POSTGRES ? await DatabaseClock.in(dataDir, offsetMs) : new ThreadClock(offsetMs);
    const service = new ShiftedService(receiver, await start(dataDir, clock), clock);
    // The start may have taken longer than the test has time for.
    await service.setTo(time);
    return service;
  }

  hook(...script: readonly Behaviour[]): Hook {
    return this.receiver.hook(...script);
  }

  /** The time by the service's clock. */
  get now(): number {
    return this.#clock.now();
  }

  /** Sets the clock of the running service. */
  async setTo(time: string | number): Promise<void> {
    await this.#clock.stepTo(offsetTo(time), this.#sched);
  }

  stepBy(ms: number): Promise<void> {
    return this.setTo(this.now + ms);
  }

  /** Stops it, and starts another on the same data with the clock set to `time`. */
  async restartAt(time: string): Promise<void> {
    expect((await this.#sched.stop()).code).toBe(0);
    await this.#clock.set(offsetTo(time));
    this.#sched = await start(this.#dataDir, this.#clock);
  }

  /** Stops it after an audit of all received requests. */
  async end(): Promise<void> {
    await audit([this.api], this.receiver.requests, [SIGNING_SECRET], { sameClock: false });
    expect(this.receiver.unmatched).toEqual([]);
    expect((await this.#sched.stop()).code).toBe(0);
    expectNoSecrets(this.#sched.output, [SIGNING_SECRET]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sched.stop();
    await this.receiver[Symbol.asyncDispose]();
  }
}

function start(dataDir: string, { time }: SettableClock): Promise<RunningService> {
  return startCheapest({ dataDir, env: SETTINGS }, time);
}

function offsetTo(time: string | number): number {
  const at = typeof time === 'number' ? time : Date.parse(time);
  return Math.round(at - Date.now());
}
