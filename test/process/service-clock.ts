/** The clock of a service whose time differs from that of the test. See `shifted-clock.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SchedProcess, temporaryDirectory } from './sched-process.ts';

const PRELOAD = join(import.meta.dirname, 'shifted-clock.ts');

/** A clock of a service that a test sets, by its offset from the clock of the machine. */
export interface SettableClock {
  /** The flags of the service. */
  readonly env: Readonly<Record<string, string>>;
  /** The time of the service. */
  now(): number;
  /** Sets the clock for the next start. */
  set(offsetMs: number): void | Promise<void>;
  /** Sets the clock of the running service. */
  stepTo(offsetMs: number, sched: SchedProcess): Promise<void>;
}

export class ServiceClock implements SettableClock {
  readonly #file = join(temporaryDirectory(), 'clock');
  #offsetMs = 0;
  #steps = 0;

  constructor(offsetMs = 0) {
    this.set(offsetMs);
  }

  get env(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import=${PRELOAD}`, SHIFTED_CLOCK_FILE: this.#file };
  }

  readonly now = (): number => Date.now() + this.#offsetMs;

  set(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    this.#steps = 0;
    writeFileSync(this.#file, String(offsetMs));
  }

  async stepTo(offsetMs: number, sched: SchedProcess): Promise<void> {
    const steps = this.#steps + 1;
    this.set(offsetMs);
    this.#steps = steps;
    sched.signal('SIGUSR2');
    await sched.said(new RegExp(`Clock step ${steps}:`));
  }
}
