/** Clocks of a service whose time differs from that of the test. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { instant } from '#src/domain/instant.ts';
import type { RunningService, ServicePorts } from './run-command.ts';
import { type SchedProcess, temporaryDirectory } from './sched-process.ts';

const PRELOAD = join(import.meta.dirname, 'shifted-clock.ts');

/** A clock of a service that a test sets, by its offset from the clock of the machine. */
export interface SettableClock {
  /** The time of a service that runs in the thread of the tests. */
  readonly time: ServicePorts;
  /** The time of the service. */
  now(): number;
  /** Sets the clock for the next start. */
  set(offsetMs: number): void | Promise<void>;
  /** Sets the clock of the running service. */
  stepTo(offsetMs: number, sched: Pick<RunningService, 'urls'>): void | Promise<void>;
}

/** The clock of a service that runs in the thread of the tests. */
export class ThreadClock implements SettableClock {
  #offsetMs: number;

  constructor(offsetMs: number) {
    this.#offsetMs = offsetMs;
  }

  readonly now = (): number => Date.now() + this.#offsetMs;

  readonly time: ServicePorts = { clock: { now: () => instant(this.now()) } };

  set(offsetMs: number): void {
    this.#offsetMs = offsetMs;
  }

  stepTo(offsetMs: number): void {
    this.set(offsetMs);
  }
}

/** The clock of a process. See `shifted-clock.ts`. */
export class ServiceClock {
  readonly #file = join(temporaryDirectory(), 'clock');
  #offsetMs = 0;
  #steps = 0;

  constructor(offsetMs = 0) {
    this.set(offsetMs);
  }

  /** The flags of the process. */
  get env(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import=${PRELOAD}`, SHIFTED_CLOCK_FILE: this.#file };
  }

  readonly now = (): number => Date.now() + this.#offsetMs;

  /** Sets the clock for the next start. */
  set(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    this.#steps = 0;
    writeFileSync(this.#file, String(offsetMs));
  }

  /** Sets the clock of the running process. */
  async stepTo(offsetMs: number, sched: SchedProcess): Promise<void> {
    const steps = this.#steps + 1;
    this.set(offsetMs);
    this.#steps = steps;
    sched.signal('SIGUSR2');
    await sched.said(new RegExp(`Clock step ${steps}:`));
  }
}
