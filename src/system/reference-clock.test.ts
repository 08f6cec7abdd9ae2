import { describe, expect, test } from 'vitest';
import { type Instant, instant } from '#src/domain/instant.ts';
import { RecordedLog, VirtualTime } from '#test/engine-harness.ts';
import { ReferenceClock } from './reference-clock.ts';

const START = instant(1_800_000_000_000);

/** A store whose clock is ahead of this machine, with answers that take as long as the test sets. */
class ReferenceClockHarness {
  readonly time = new VirtualTime(START);
  readonly clock = this.time;
  readonly timers = this.time;
  readonly stopwatch = this.time;
  readonly log = new RecordedLog();
  /** The difference between the reference clock and the elapsed time. */
  aheadMs = START + 5_000;
  isUnreachable = false;
  reads = 0;
  /** The delays of the request and of the answer. */
  delaysMs: readonly [number, number] = [0, 0];

  readonly store = {
    readClock: async (): Promise<Instant> => {
      this.reads++;
      const [requestMs, answerMs] = this.delaysMs;
      await this.#wait(requestMs);
      if (this.isUnreachable) throw new Error('The store cannot be reached.');
      const now = this.reference;
      await this.#wait(answerMs);
      return now;
    },
  };

  get reference(): Instant {
    return instant(this.aheadMs + this.time.elapsed());
  }

  #wait(ms: number): Promise<void> {
    if (ms === 0) return Promise.resolve();
    return new Promise((resolve) => void this.time.after(ms, resolve));
  }

  async started(): Promise<ReferenceClock> {
    const clock = new ReferenceClock(this);
    await clock.start();
    return clock;
  }
}

describe('the reference clock', () => {
  test('shows the time of the store after the first measurement', async () => {
    const harness = new ReferenceClockHarness();
    const clock = new ReferenceClock(harness);
    expect([clock.isSynchronized, clock.now()]).toEqual([false, START]);
    await clock.start();
    expect([clock.isSynchronized, clock.now(), clock.offsetMs]).toEqual([true, START + 5_000, 5_000]);
    await harness.time.advance(12_345);
    expect(clock.now()).toBe(harness.reference);
  });

  test('is measured every second', async () => {
    const harness = new ReferenceClockHarness();
    await harness.started();
    const { reads } = harness;
    await harness.time.advance(10_000);
    expect(harness.reads).toBe(reads + 10);
  });

  test('does not change when the clock of this machine is set, and the offset shows the difference', async () => {
    const harness = new ReferenceClockHarness();
    const clock = await harness.started();
    harness.time.setClock(3_600_000);
    expect([clock.now(), clock.isSynchronized, clock.offsetMs]).toEqual([
      harness.reference,
      true,
      5_000 - 3_600_000,
    ]);
    await harness.time.advance(5_000);
    expect([clock.now(), clock.isSynchronized]).toEqual([harness.reference, true]);
  });

  test('uses the answer with the shortest round trip of the last few', async () => {
    const harness = new ReferenceClockHarness();
    const clock = await harness.started();
    // Assuming the middle of the round trip, these answers are wrong by 300 ms.
    harness.delaysMs = [600, 0];
    await harness.time.advance(6_000);
    expect([clock.now(), clock.isSynchronized]).toEqual([harness.reference, true]);
    // They count when there is no better answer.
    await harness.time.advance(20_000);
    expect([clock.now() - harness.reference, clock.isSynchronized]).toEqual([300, true]);
    harness.delaysMs = [2, 2];
    await harness.time.advance(2_000);
    expect(Math.abs(clock.now() - harness.reference)).toBeLessThanOrEqual(300);
  });

  test('stands still instead of going back a little, until time has caught up', async () => {
    const harness = new ReferenceClockHarness();
    harness.delaysMs = [40, 0];
    const starting = harness.started();
    await harness.time.advance(100);
    const clock = await starting;
    expect(clock.now() - harness.reference).toBe(20);
    harness.delaysMs = [0, 0];
    let last = clock.now();
    for (let passed = 0; passed < 2_000; passed++) {
      await harness.time.advance(1);
      expect(clock.now()).toBeGreaterThanOrEqual(last);
      last = clock.now();
    }
    expect(clock.now()).toBe(harness.reference);
  });

  test.for([-3_600_000, -1_500, 60, 3_600_000])(
    'is not synchronised after a jump by %i ms until a second answer confirms it at once',
    async (jumpMs) => {
      const harness = new ReferenceClockHarness();
      const clock = await harness.started();
      await harness.time.advance(500);
      harness.aheadMs += jumpMs;
      const before = clock.now();
      harness.delaysMs = [1, 1];
      await harness.time.advance(502);
      expect([clock.isSynchronized, clock.now()]).toEqual([false, before + 502]);
      await harness.time.advance(2);
      expect([clock.isSynchronized, clock.now()]).toEqual([true, harness.reference]);
    },
  );

  test('continues unchanged after one wrong answer that the next one contradicts', async () => {
    const harness = new ReferenceClockHarness();
    const clock = await harness.started();
    await harness.time.advance(500);
    harness.aheadMs += 60_000;
    harness.delaysMs = [0, 1];
    await harness.time.advance(500);
    harness.aheadMs -= 60_000;
    await harness.time.advance(1);
    expect(clock.isSynchronized).toBe(false);
    await harness.time.advance(1);
    expect([clock.isSynchronized, clock.now()]).toEqual([true, harness.reference]);
  });

  test('stays unsynchronised while all answers contradict each other, and is read more often', async () => {
    const harness = new ReferenceClockHarness();
    const clock = await harness.started();
    const { readClock } = harness.store;
    harness.store.readClock = () => {
      harness.aheadMs += 1_000;
      return readClock();
    };
    await harness.time.advance(1_000);
    const { reads } = harness;
    await harness.time.advance(1_000);
    expect([clock.isSynchronized, harness.reads - reads]).toEqual([false, 20]);
    harness.store.readClock = readClock;
    await harness.time.advance(100);
    expect([clock.isSynchronized, clock.now()]).toEqual([true, harness.reference]);
  });

  test('continues while the store cannot be reached, and stays synchronised for ten minutes', async () => {
    const harness = new ReferenceClockHarness();
    const clock = await harness.started();
    harness.isUnreachable = true;
    await harness.time.advance(599_999);
    expect([clock.isSynchronized, clock.now()]).toEqual([true, harness.reference]);
    await harness.time.advance(1);
    expect([clock.isSynchronized, clock.now()]).toEqual([false, harness.reference]);
    harness.isUnreachable = false;
    await harness.time.advance(1_000);
    expect(clock.isSynchronized).toBe(true);
    expect(harness.log.lines.map(({ message }) => message)).toEqual([
      'the reference clock could not be read',
    ]);
  });

  test('is not synchronised if the first measurement fails, and is after the first success', async () => {
    const harness = new ReferenceClockHarness();
    harness.isUnreachable = true;
    const clock = await harness.started();
    expect([clock.isSynchronized, clock.now()]).toEqual([false, START]);
    harness.isUnreachable = false;
    await harness.time.advance(100);
    expect([clock.isSynchronized, clock.now()]).toEqual([true, harness.reference]);
  });

  test('is not read after it was stopped', async () => {
    const harness = new ReferenceClockHarness();
    const clock = await harness.started();
    clock.stop();
    const { reads } = harness;
    await harness.time.advance(10_000);
    expect([harness.reads, harness.time.pending]).toEqual([reads, 0]);
  });
});
