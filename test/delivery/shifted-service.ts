/** A service that lives in another time than the test, and a receiver for it. See `shifted-clock.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Api } from '#test/e2e/client.ts';
import { type SchedProcess, temporaryDirectory } from '#test/process/sched-process.ts';
import type { Behaviour } from '#test/receiver/behaviours.ts';
import { type Hook, type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { audit } from './audit.ts';
import { expectNothingPlanted, SIGNING_SECRET, startService, TEST_KEY } from './harness.ts';

const PRELOAD = join(import.meta.dirname, 'shifted-clock.ts');

export class ShiftedService implements AsyncDisposable {
  readonly api = Api.at(() => this.#sched.url).as(TEST_KEY);
  readonly receiver: Receiver;
  readonly #dataDir: string;
  readonly #clockFile: string;
  #sched: SchedProcess;
  #offsetMs = 0;

  private constructor(receiver: Receiver, sched: SchedProcess, clockFile: string) {
    this.receiver = receiver;
    this.#sched = sched;
    this.#dataDir = sched.dataDir;
    this.#clockFile = clockFile;
  }

  /** A service whose clock says so when it starts. */
  static async at(time: string): Promise<ShiftedService> {
    const receiver = await startReceiver();
    const clockFile = join(temporaryDirectory(), 'clock');
    const offsetMs = Date.parse(time) - Date.now();
    writeFileSync(clockFile, `${offsetMs}`);
    const service = new ShiftedService(receiver, await launch(undefined, clockFile), clockFile);
    service.#offsetMs = offsetMs;
    return service;
  }

  hook(...script: readonly Behaviour[]): Hook {
    return this.receiver.hook(...script);
  }

  /** What the clock of the service says. */
  get now(): number {
    return Date.now() + this.#offsetMs;
  }

  /** Sets the clock of the running service. */
  async setTo(time: string | number): Promise<void> {
    this.#shift(time);
    const isShifted = this.#sched.said(new RegExp(`clock shifted by ${this.#offsetMs} ms`));
    this.#sched.signal('SIGUSR2');
    await isShifted;
  }

  stepBy(ms: number): Promise<void> {
    return this.setTo(this.now + ms);
  }

  /** Stops it, and starts another on the same data, with the clock so set. */
  async restartAt(time: string): Promise<void> {
    expect(await this.#sched.stop()).toEqual({ code: 0, signal: null });
    this.#shift(time);
    this.#sched = await launch(this.#dataDir, this.#clockFile);
  }

  #shift(time: string | number): void {
    const at = typeof time === 'number' ? time : Date.parse(time);
    this.#offsetMs = Math.round(at - Date.now());
    writeFileSync(this.#clockFile, `${this.#offsetMs}`);
  }

  /** Stops it after the audit of everything that was received. */
  async end(): Promise<void> {
    await audit([this.api], this.receiver.requests, [SIGNING_SECRET], { sameClock: false });
    expect(this.receiver.strays).toEqual([]);
    expect((await this.#sched.stop()).code).toBe(0);
    expectNothingPlanted(this.#sched.output, [SIGNING_SECRET]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sched[Symbol.asyncDispose]();
    await this.receiver[Symbol.asyncDispose]();
  }
}

function launch(dataDir: string | undefined, clockFile: string): Promise<SchedProcess> {
  return startService(dataDir, { NODE_OPTIONS: `--import=${PRELOAD}`, SHIFTED_CLOCK_FILE: clockFile });
}
