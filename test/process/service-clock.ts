/** The clock of a service that lives in another time than the test; see `shifted-clock.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SchedProcess, temporaryDirectory } from './sched-process.ts';

const PRELOAD = join(import.meta.dirname, 'shifted-clock.ts');

export class ServiceClock {
  readonly #file = join(temporaryDirectory(), 'clock');
  #offsetMs = 0;
  #steps = 0;

  constructor(offsetMs = 0) {
    this.set(offsetMs);
  }

  /** What the service must be started with. */
  get env(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import=${PRELOAD}`, SHIFTED_CLOCK_FILE: this.#file };
  }

  /** What the clock of the service says. */
  readonly now = (): number => Date.now() + this.#offsetMs;

  /** For the next start: the clock is so far from that of the machine. */
  set(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    this.#steps = 0;
    writeFileSync(this.#file, String(offsetMs));
  }

  /** Sets the clock of the running service. */
  async stepTo(offsetMs: number, sched: SchedProcess): Promise<void> {
    const steps = this.#steps + 1;
    this.set(offsetMs);
    this.#steps = steps;
    sched.signal('SIGUSR2');
    await sched.said(new RegExp(`Clock step ${steps}:`));
  }
}
