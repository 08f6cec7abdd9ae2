/** After a failure of the store nothing is claimed for half a second. One log line a second reports the outage. */
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';

const PAUSE_MS = 500;

export class ClaimPause {
  readonly #timers: EngineDependencies['timers'];
  readonly #outage: OutageLog;
  #isPaused = false;
  #onEnd: () => void = () => {};

  constructor(dependencies: Pick<EngineDependencies, 'timers' | 'log'>) {
    this.#timers = dependencies.timers;
    this.#outage = warnsOfOutage(dependencies, 'due work could not be claimed', 'due work is claimed again');
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Deliveries that were dropped because of the failure are only found by a scan, which `act` begins. */
  onEnd(act: () => void): void {
    this.#onEnd = act;
  }

  storeFailed(error: unknown): void {
    this.#outage.failed({ error: String(error) });
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#timers.after(PAUSE_MS, () => {
      this.#isPaused = false;
      this.#onEnd();
    });
  }

  storeSucceeded(): void {
    this.#outage.succeeded();
  }
}
