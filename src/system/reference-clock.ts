/**
 * The clock that all nodes of a store use: the clock of the store. It is read every second, and the stopwatch
 * counts in between. So setting the clock of this machine has no effect.
 *
 * An answer was given at some moment between request and response. We assume the middle, which is wrong by half
 * the round trip at most. Of the last few answers, the one with the shortest round trip counts. An answer that
 * differs by more than its round trip explains means that the reference was set, or changed with a failover, or
 * that this machine slept. Until a second answer confirms one of the two, the clock is not synchronised.
 *
 * While the store cannot be reached, the stopwatch continues, for as long as it cannot have drifted far.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import type { Clock, MeasuredClock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';

const MEASURE_MS = 1_000;
/** The interval while the clock is not synchronised. */
const MEASURE_UNSYNCHRONIZED_MS = 100;
const SAMPLES_MAX = 8;
/** The allowed difference of two answers, in addition to what their round trips explain. */
const JUMP_MS = 50;
/** After a smaller step back the clock stands still until time has caught up. A larger step is shown. */
const STAND_STILL_MS_MAX = 1_000;
/** A quartz clock drifts by a few dozen ms in this time. */
const UNMEASURED_MS_MAX = 600_000;

export interface ReferenceClockDependencies {
  readonly store: Pick<ClusterStore, 'readClock'>;
  /** The clock of this machine. */
  readonly clock: Clock;
  readonly timers: Timers;
  readonly stopwatch: Stopwatch;
  readonly log: Log;
}

interface Sample {
  /** The reference time at which the stopwatch was zero. */
  readonly zeroAt: number;
  readonly roundTripMs: number;
}

export class ReferenceClock implements MeasuredClock {
  readonly #dependencies: ReferenceClockDependencies;
  /** The last samples that agree with each other, the newest last. */
  #samples: readonly Sample[] = [];
  /** The sample with the shortest round trip. */
  #best: Sample | null = null;
  /** The newest sample, if it contradicts the others. */
  #suspect: Sample | null = null;
  #measuredAt = Number.NEGATIVE_INFINITY;
  /** The time of the last jump, by the stopwatch. */
  #jumpedAt = Number.NEGATIVE_INFINITY;
  #shown: Instant | null = null;
  #isUnreachable = false;
  readonly #task: PeriodicTask;

  constructor(dependencies: ReferenceClockDependencies) {
    this.#dependencies = dependencies;
    this.#task = new PeriodicTask(dependencies.timers, async () => {
      await this.measure();
      return this.#waitMs;
    });
  }

  /** Before the first measurement this is the clock of this machine. */
  now(): Instant {
    const { clock, stopwatch } = this.#dependencies;
    if (this.#best === null) return clock.now();
    const now = instant(Math.floor(this.#best.zeroAt + stopwatch.elapsed()));
    const isBack = this.#shown !== null && now < this.#shown && this.#shown - now <= STAND_STILL_MS_MAX;
    if (!isBack) this.#shown = now;
    return this.#shown ?? now;
  }

  get isSynchronized(): boolean {
    if (this.#best === null || this.#suspect !== null) return false;
    return this.#dependencies.stopwatch.elapsed() - this.#measuredAt < UNMEASURED_MS_MAX;
  }

  get sinceStepMs(): number {
    return this.#dependencies.stopwatch.elapsed() - this.#jumpedAt;
  }

  get offsetMs(): number {
    return this.now() - this.#dependencies.clock.now();
  }

  /** Resolves after the first measurement, even if it failed. It then continues to measure. */
  async start(): Promise<void> {
    await this.measure();
    // The first answer may be slow because everything starts at once, and a second one costs little.
    if (this.#best !== null) await this.measure();
    this.#task.runWithin(this.#waitMs);
  }

  stop(): void {
    void this.#task.stop();
  }

  /** The wait until the next measurement. */
  get #waitMs(): number {
    return this.isSynchronized ? MEASURE_MS : MEASURE_UNSYNCHRONIZED_MS;
  }

  /** Takes one sample, and at once a second one if it contradicts the earlier ones. */
  async measure(): Promise<void> {
    try {
      this.#add(await this.#sample());
      if (this.#suspect !== null) this.#add(await this.#sample());
      this.#isUnreachable = false;
    } catch (error) {
      if (!this.#isUnreachable)
        this.#dependencies.log.warn({ error: String(error) }, 'the reference clock could not be read');
      this.#isUnreachable = true;
    }
  }

  async #sample(): Promise<Sample> {
    const { store, stopwatch } = this.#dependencies;
    const sentAt = stopwatch.elapsed();
    const reference = await store.readClock();
    const receivedAt = stopwatch.elapsed();
    return { zeroAt: reference - (sentAt + receivedAt) / 2, roundTripMs: receivedAt - sentAt };
  }

  #add(sample: Sample): void {
    this.#measuredAt = this.#dependencies.stopwatch.elapsed();
    if (this.#best === null || agree(this.#best, sample)) this.#accept([...this.#samples, sample]);
    else if (this.#suspect !== null && agree(this.#suspect, sample)) {
      const movedMs = Math.round(sample.zeroAt - this.#best.zeroAt);
      this.#dependencies.log.warn({ moved_ms: movedMs }, 'the reference clock jumped');
      this.#jumpedAt = this.#measuredAt;
      this.#accept([this.#suspect, sample]);
    } else this.#suspect = sample;
  }

  #accept(samples: readonly Sample[]): void {
    this.#suspect = null;
    this.#samples = samples.slice(-SAMPLES_MAX);
    this.#best = this.#samples.reduce((best, one) => (one.roundTripMs <= best.roundTripMs ? one : best));
  }
}

/** Whether both samples can be of the same clock. */
function agree(a: Sample, b: Sample): boolean {
  return Math.abs(a.zeroAt - b.zeroAt) <= JUMP_MS + (a.roundTripMs + b.roundTripMs) / 2;
}
