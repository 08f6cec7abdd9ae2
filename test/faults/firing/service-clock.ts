/** The clock of a service whose clock is ours to set; see `preload/shifted-clock.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SchedProcess, temporaryDirectory } from '#test/process/sched-process.ts';
import type { FiringOptions } from './service.ts';

export class ServiceClock {
  readonly #file = join(temporaryDirectory(), 'clock');
  #offsetMs = 0;
  #steps = 0;

  constructor(offsetMs = 0) {
    this.#write(offsetMs);
  }

  /** What the service must be started with. */
  get options(): FiringOptions {
    return { preload: 'shifted-clock.ts', env: { SCHED_TEST_CLOCK_FILE: this.#file } };
  }

  readonly now = (): number => Date.now() + this.#offsetMs;

  /** Sets the clock of the running service so far from that of the machine. */
  async stepTo(offsetMs: number, sched: SchedProcess): Promise<void> {
    this.#write(offsetMs);
    this.#steps += 1;
    sched.signal('SIGUSR2');
    await sched.said(new RegExp(`Clock step ${this.#steps}:`));
  }

  #write(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    writeFileSync(this.#file, String(offsetMs));
  }
}
