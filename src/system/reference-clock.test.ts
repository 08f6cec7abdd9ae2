import { describe, expect, test } from 'vitest';
import { type Instant, instant } from '#src/domain/instant.ts';
import { KeptLog, VirtualTime } from '#test/engine-harness.ts';
import { ReferenceClock } from './reference-clock.ts';

const START = instant(1_800_000_000_000);

/** A store whose clock is ahead of this machine's, with answers that take as long as the test wants. */
class ReferenceClockHarness {
  readonly time = new VirtualTime(START);
  readonly clock = this.time;
  readonly timers = this.time;
  readonly stopwatch = this.time;
  readonly log = new KeptLog();
  /** Of the reference, to what has elapsed here. */
  aheadMs = START + 5_000;
  isAway = false;
  asked = 0;
  /** How long the question takes to arrive, and the answer. */
  delaysMs: readonly [number, number] = [0, 0];

  readonly store = {
    readClock: async (): Promise<Instant> => {
      this.asked++;
      const [there, back] = this.delaysMs;
      await this.#pass(there);
      if (this.isAway) throw new Error('The store is away.');
      const now = this.reference;
      await this.#pass(back);
      return now;
    },
  };

  get reference(): Instant {
    return instant(this.aheadMs + this.time.elapsed());
  }

  #pass(ms: number): Promise<void> {
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
  test('shows what the store’s clock shows, once it was measured', async () => {
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
    const { asked } = harness;
    await harness.time.advance(10_000);
    expect(harness.asked).toBe(asked + 10);
  });

  test('is not changed by whoever sets the clock of this machine; the offset tells', async () => {
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

  test('goes by the answer with the shortest round trip of the last few', async () => {
    const harness = new ReferenceClockHarness();
    const clock = await harness.started();
    // Taken for the middle, these are wrong by 300 ms.
    harness.delaysMs = [600, 0];
    await harness.time.advance(6_000);
    expect([clock.now(), clock.isSynchronized]).toEqual([harness.reference, true]);
    // When there is nothing better, they count.
    await harness.time.advance(20_000);
    expect([clock.now() - harness.reference, clock.isSynchronized]).toEqual([300, true]);
    harness.delaysMs = [2, 2];
    await harness.time.advance(2_000);
    expect(Math.abs(clock.now() - harness.reference)).toBeLessThanOrEqual(300);
  });

  test('never goes back by a little: it stands still until time has caught up', async () => {
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
    'that jumps by %i ms is not sure until a second answer confirms it, which is asked for at once',
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

  test('of which one answer is wrong goes on as before, once the next says so', async () => {
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

  test('whose answers all contradict each other stays unsure, and is asked more often', async () => {
    const harness = new ReferenceClockHarness();
    const clock = await harness.started();
    const { readClock } = harness.store;
    harness.store.readClock = () => {
      harness.aheadMs += 1_000;
      return readClock();
    };
    await harness.time.advance(1_000);
    const { asked } = harness;
    await harness.time.advance(1_000);
    expect([clock.isSynchronized, harness.asked - asked]).toEqual([false, 20]);
    harness.store.readClock = readClock;
    await harness.time.advance(100);
    expect([clock.isSynchronized, clock.now()]).toEqual([true, harness.reference]);
  });

  test('goes on while the store is away, and is sure for ten minutes', async () => {
    const harness = new ReferenceClockHarness();
    const clock = await harness.started();
    harness.isAway = true;
    await harness.time.advance(599_999);
    expect([clock.isSynchronized, clock.now()]).toEqual([true, harness.reference]);
    await harness.time.advance(1);
    expect([clock.isSynchronized, clock.now()]).toEqual([false, harness.reference]);
    harness.isAway = false;
    await harness.time.advance(1_000);
    expect(clock.isSynchronized).toBe(true);
    expect(harness.log.lines.map(({ message }) => message)).toEqual([
      'the reference clock could not be read',
    ]);
  });

  test('that cannot be measured at the start is not sure, and is as soon as it can', async () => {
    const harness = new ReferenceClockHarness();
    harness.isAway = true;
    const clock = await harness.started();
    expect([clock.isSynchronized, clock.now()]).toEqual([false, START]);
    harness.isAway = false;
    await harness.time.advance(100);
    expect([clock.isSynchronized, clock.now()]).toEqual([true, harness.reference]);
  });

  test('that was stopped asks no more', async () => {
    const harness = new ReferenceClockHarness();
    const clock = await harness.started();
    clock.stop();
    const { asked } = harness;
    await harness.time.advance(10_000);
    expect([harness.asked, harness.time.pending]).toEqual([asked, 0]);
  });
});
