/**
 * The clock that all nodes of a store go by: the store's own. It is asked every second, and in between the
 * stopwatch counts on, so that nobody who sets the clock of this machine changes what time it is here.
 *
 * An answer is of some moment between asking and hearing it: it is taken for the middle, and wrong by half the
 * round trip at most. Of the last few the one with the shortest round trip counts. An answer that no round trip
 * explains means that the reference was set, or is another one since a failover, or that this machine slept:
 * until a second answer has confirmed the one or the other, the clock says that it is not sure.
 *
 * While the store is away it goes on by the stopwatch, for as long as that cannot have drifted far.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import type { Clock, MeasuredClock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';

const MEASURE_EVERY_MS = 1_000;
/** The same while it is not sure. */
const MEASURE_AGAIN_MS = 100;
const SAMPLES_MAX = 8;
/** What two answers may differ by, besides what their round trips explain. */
const JUMP_MS = 50;
/** Back by less, and it stands still until time has caught up. By more it was wrong before. */
const STAND_STILL_MS_MAX = 1_000;
/** Quartz drifts by a few dozen ms in that time. */
const UNMEASURED_MS_MAX = 600_000;

export interface ReferenceClockDependencies {
  readonly store: Pick<ClusterStore, 'readClock'>;
  /** Of this machine. */
  readonly clock: Clock;
  readonly timers: Timers;
  readonly stopwatch: Stopwatch;
  readonly log: Log;
}

interface Sample {
  /** What the reference showed when the stopwatch began. */
  readonly beganAt: number;
  readonly roundTripMs: number;
}

export class ReferenceClock implements MeasuredClock {
  readonly #dependencies: ReferenceClockDependencies;
  /** That agree with each other, the newest last. */
  #samples: readonly Sample[] = [];
  /** The one of them that counts. */
  #best: Sample | null = null;
  /** The newest, when it contradicts the others. */
  #suspect: Sample | null = null;
  #measuredAt = Number.NEGATIVE_INFINITY;
  /** By the stopwatch. */
  #movedAt = Number.NEGATIVE_INFINITY;
  #shown: Instant | null = null;
  #isAway = false;
  readonly #task: PeriodicTask;

  constructor(dependencies: ReferenceClockDependencies) {
    this.#dependencies = dependencies;
    this.#task = new PeriodicTask(dependencies.timers, async () => {
      await this.measure();
      return this.#waitMs;
    });
  }

  /** Until it was measured, the clock of this machine. */
  now(): Instant {
    const { clock, stopwatch } = this.#dependencies;
    if (this.#best === null) return clock.now();
    const now = instant(Math.floor(this.#best.beganAt + stopwatch.elapsed()));
    const isBack = this.#shown !== null && now < this.#shown && this.#shown - now <= STAND_STILL_MS_MAX;
    if (!isBack) this.#shown = now;
    return this.#shown ?? now;
  }

  get isSynchronized(): boolean {
    if (this.#best === null || this.#suspect !== null) return false;
    return this.#dependencies.stopwatch.elapsed() - this.#measuredAt < UNMEASURED_MS_MAX;
  }

  get sinceStepMs(): number {
    return this.#dependencies.stopwatch.elapsed() - this.#movedAt;
  }

  get offsetMs(): number {
    return this.now() - this.#dependencies.clock.now();
  }

  /** Resolves after the first measurement, also when it failed: then it is not sure yet, and goes on measuring. */
  async start(): Promise<void> {
    await this.measure();
    // A first answer may come late because everything begins at once: another one costs little.
    if (this.#best !== null) await this.measure();
    this.#task.runWithin(this.#waitMs);
  }

  stop(): void {
    void this.#task.stop();
  }

  /** The wait until the next measurement. */
  get #waitMs(): number {
    return this.isSynchronized ? MEASURE_EVERY_MS : MEASURE_AGAIN_MS;
  }

  /** One answer, and at once another one where it contradicts those before. */
  async measure(): Promise<void> {
    try {
      this.#learn(await this.#ask());
      if (this.#suspect !== null) this.#learn(await this.#ask());
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway)
        this.#dependencies.log.warn({ error: String(error) }, 'the reference clock could not be read');
      this.#isAway = true;
    }
  }

  async #ask(): Promise<Sample> {
    const { store, stopwatch } = this.#dependencies;
    const askedAt = stopwatch.elapsed();
    const reference = await store.readClock();
    const heardAt = stopwatch.elapsed();
    return { beganAt: reference - (askedAt + heardAt) / 2, roundTripMs: heardAt - askedAt };
  }

  #learn(sample: Sample): void {
    this.#measuredAt = this.#dependencies.stopwatch.elapsed();
    if (this.#best === null || agree(this.#best, sample)) this.#believe([...this.#samples, sample]);
    else if (this.#suspect !== null && agree(this.#suspect, sample)) {
      const movedMs = Math.round(sample.beganAt - this.#best.beganAt);
      this.#dependencies.log.warn({ moved_ms: movedMs }, 'the reference clock jumped');
      this.#movedAt = this.#measuredAt;
      this.#believe([this.#suspect, sample]);
    } else this.#suspect = sample;
  }

  #believe(samples: readonly Sample[]): void {
    this.#suspect = null;
    this.#samples = samples.slice(-SAMPLES_MAX);
    this.#best = this.#samples.reduce((best, one) => (one.roundTripMs <= best.roundTripMs ? one : best));
  }
}

/** Whether both can be of the same clock. */
function agree(a: Sample, b: Sample): boolean {
  return Math.abs(a.beganAt - b.beganAt) <= JUMP_MS + (a.roundTripMs + b.roundTripMs) / 2;
}
