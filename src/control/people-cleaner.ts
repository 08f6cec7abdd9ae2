/** Removes ended sessions, expired invitations, old failed logins, and audit entries past the retention. */
import { type Instant, instant } from '#src/domain/instant.ts';
import type { PeopleStore } from '#src/ports/people-store.ts';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import { type Clock, pause, type Timers } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';
import { FAILURE_MS_MAX, FAMILIAR_MS } from './login-throttle.ts';
import { IDLE_MS_MAX } from './sessions.ts';

const EVERY_MS = 3_600_000;
const FIRST_AFTER_MS = 60_000;
/** The store can do other work in this pause, so that deliveries do not wait. */
const PAUSE_MS = 100;
/** Batches that one round removes. The next round removes the rest. */
const BATCHES_MAX = 1_000;
/**
 * A clock that advanced by this much more than the elapsed time was set. Removed audit entries cannot be restored, so
 * none are removed then.
 */
const CLOCK_JUMP_MS = 600_000;

export interface PeopleCleanerDependencies {
  readonly people: PeopleStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

export class PeopleCleaner {
  readonly #dependencies: PeopleCleanerDependencies;
  readonly #retentionMs: number;
  readonly #task: PeriodicTask;
  #roundAt: Instant;
  /** The wait before the next round. */
  #waitMs = FIRST_AFTER_MS;

  /** A retention of 0 keeps the audit log forever. */
  constructor(dependencies: PeopleCleanerDependencies, retentionMs: number) {
    this.#dependencies = dependencies;
    this.#retentionMs = retentionMs;
    this.#roundAt = dependencies.clock.now();
    this.#task = new PeriodicTask(
      dependencies.timers,
      () => this.#round(),
      (error) => {
        dependencies.log.warn(
          { error: String(error) },
          'old sessions and audit entries could not be removed',
        );
        return EVERY_MS;
      },
    );
  }

  start(): void {
    this.#roundAt = this.#dependencies.clock.now();
    this.#task.runWithin(FIRST_AFTER_MS);
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async #round(): Promise<number> {
    const now = this.#dependencies.clock.now();
    const hasJumped = now - this.#roundAt > this.#waitMs + CLOCK_JUMP_MS;
    this.#roundAt = now;
    this.#waitMs = EVERY_MS;
    await this.#prune(hasJumped);
    return EVERY_MS;
  }

  async #prune(hasJumped: boolean): Promise<void> {
    const { people, clock, timers } = this.#dependencies;
    const ago = (ms: number) => instant(Math.max(clock.now() - ms, 0));
    const auditBefore = this.#retentionMs === 0 || hasJumped ? null : ago(this.#retentionMs);
    for (let batches = 0; batches < BATCHES_MAX && !this.#task.isStopped; batches++) {
      const answer = await people.prunePeople(
        clock.now(),
        ago(IDLE_MS_MAX),
        ago(FAILURE_MS_MAX),
        ago(FAMILIAR_MS),
        auditBefore,
      );
      if (answer === 'done') return;
      await pause(timers, PAUSE_MS);
    }
  }
}
