/**
 * When lost attempts are looked for: at the start, when this node lost track of a claim, and in a cluster when a
 * node died, when slots were gained, and every few seconds as a net. One look at a time, again until nothing is
 * left to close.
 */

import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';
import { pause } from '#src/ports/system.ts';
import type { Recovery } from './recovery.ts';

const AGAIN_MS = 500;
const EVERY_MS = 5_000;
/** So long after this node lost track of a claim, the net is for its own ones too: it may have been slow to arrive. */
const OWN_ROUNDS = 12;

export class Recoveries {
  readonly #dependencies: Pick<EngineDependencies, 'timers' | 'log' | 'cluster'>;
  readonly #recovery: Recovery;
  readonly #outage: OutageLog;
  #running: Promise<void> | null = null;
  /** Since the look under way began. */
  #isAskedAgain = false;
  #ownRounds = 0;
  #callOff: (() => void) | null = null;
  #isStopped = false;

  constructor(dependencies: Pick<EngineDependencies, 'timers' | 'log' | 'cluster'>, recovery: Recovery) {
    this.#dependencies = dependencies;
    this.#recovery = recovery;
    this.#outage = warnsOfOutage(
      dependencies,
      'lost attempts could not be looked for',
      'lost attempts are looked for again',
    );
  }

  /** Resolves when everything that was lost is closed. */
  async start(): Promise<void> {
    this.#lookEvery();
    await this.look();
  }

  /** A claim of our own may have been made that nobody works on. */
  lostTrack(): void {
    this.#ownRounds = OWN_ROUNDS;
    void this.#run(AGAIN_MS);
  }

  look(): Promise<void> {
    return this.#run(0);
  }

  stop(): void {
    this.#isStopped = true;
    this.#callOff?.();
  }

  #lookEvery(): void {
    if (this.#dependencies.cluster === null || this.#isStopped) return;
    this.#callOff = this.#dependencies.timers.after(EVERY_MS, () => {
      void this.look();
      if (this.#ownRounds > 0) this.#ownRounds--;
      this.#lookEvery();
    });
  }

  #run(afterMs: number): Promise<void> {
    this.#isAskedAgain = true;
    this.#running ??= this.#untilDone(afterMs);
    return this.#running;
  }

  async #untilDone(afterMs: number): Promise<void> {
    const { timers, cluster } = this.#dependencies;
    if (afterMs > 0) await pause(timers, afterMs);
    while (!this.#isStopped) {
      this.#isAskedAgain = false;
      try {
        const closed = await this.#recovery.run(cluster === null || this.#ownRounds > 0);
        this.#outage.succeeded();
        // A run is bounded: what it closed may not have been all.
        if (!this.#isAskedAgain && closed > 0) continue;
        if (!this.#isAskedAgain) break;
      } catch (error) {
        this.#outage.failed({ error: String(error) });
      }
      await pause(timers, AGAIN_MS);
    }
    this.#running = null;
  }
}
