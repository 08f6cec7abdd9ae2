import { describe, expect, test } from 'vitest';
import { type Instant, instant } from '#src/domain/instant.ts';
import { KeptLog, VirtualTime } from '#test/engine-world.ts';
import { ReferenceClock } from './reference-clock.ts';

const START = instant(1_800_000_000_000);

/** A store whose clock is ahead of this machine's, with answers that take as long as the test wants. */
class World {
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
    const world = new World();
    const clock = new ReferenceClock(world);
    expect([clock.isSure, clock.now()]).toEqual([false, START]);
    await clock.start();
    expect([clock.isSure, clock.now(), clock.offsetMs]).toEqual([true, START + 5_000, 5_000]);
    await world.time.advance(12_345);
    expect(clock.now()).toBe(world.reference);
  });

  test('is measured every second', async () => {
    const world = new World();
    await world.started();
    const { asked } = world;
    await world.time.advance(10_000);
    expect(world.asked).toBe(asked + 10);
  });

  test('is not changed by whoever sets the clock of this machine; the offset tells', async () => {
    const world = new World();
    const clock = await world.started();
    world.time.setClock(3_600_000);
    expect([clock.now(), clock.isSure, clock.offsetMs]).toEqual([world.reference, true, 5_000 - 3_600_000]);
    await world.time.advance(5_000);
    expect([clock.now(), clock.isSure]).toEqual([world.reference, true]);
  });

  test('goes by the answer with the shortest round trip of the last few', async () => {
    const world = new World();
    const clock = await world.started();
    // Taken for the middle, these are wrong by 300 ms.
    world.delaysMs = [600, 0];
    await world.time.advance(6_000);
    expect([clock.now(), clock.isSure]).toEqual([world.reference, true]);
    // When there is nothing better, they count.
    await world.time.advance(20_000);
    expect([clock.now() - world.reference, clock.isSure]).toEqual([300, true]);
    world.delaysMs = [2, 2];
    await world.time.advance(2_000);
    expect(Math.abs(clock.now() - world.reference)).toBeLessThanOrEqual(300);
  });

  test('never goes back by a little: it stands still until time has caught up', async () => {
    const world = new World();
    world.delaysMs = [40, 0];
    const starting = world.started();
    await world.time.advance(100);
    const clock = await starting;
    expect(clock.now() - world.reference).toBe(20);
    world.delaysMs = [0, 0];
    let last = clock.now();
    for (let passed = 0; passed < 2_000; passed++) {
      await world.time.advance(1);
      expect(clock.now()).toBeGreaterThanOrEqual(last);
      last = clock.now();
    }
    expect(clock.now()).toBe(world.reference);
  });

  test.for([-3_600_000, -1_500, 60, 3_600_000])(
    'that jumps by %i ms is not sure until a second answer confirms it, which is asked for at once',
    async (jumpMs) => {
      const world = new World();
      const clock = await world.started();
      await world.time.advance(500);
      world.aheadMs += jumpMs;
      const before = clock.now();
      world.delaysMs = [1, 1];
      await world.time.advance(502);
      expect([clock.isSure, clock.now()]).toEqual([false, before + 502]);
      await world.time.advance(2);
      expect([clock.isSure, clock.now()]).toEqual([true, world.reference]);
    },
  );

  test('of which one answer is wrong goes on as before, once the next says so', async () => {
    const world = new World();
    const clock = await world.started();
    await world.time.advance(500);
    world.aheadMs += 60_000;
    world.delaysMs = [0, 1];
    await world.time.advance(500);
    world.aheadMs -= 60_000;
    await world.time.advance(1);
    expect(clock.isSure).toBe(false);
    await world.time.advance(1);
    expect([clock.isSure, clock.now()]).toEqual([true, world.reference]);
  });

  test('whose answers all contradict each other stays unsure, and is asked more often', async () => {
    const world = new World();
    const clock = await world.started();
    const { readClock } = world.store;
    world.store.readClock = () => {
      world.aheadMs += 1_000;
      return readClock();
    };
    await world.time.advance(1_000);
    const { asked } = world;
    await world.time.advance(1_000);
    expect([clock.isSure, world.asked - asked]).toEqual([false, 20]);
    world.store.readClock = readClock;
    await world.time.advance(100);
    expect([clock.isSure, clock.now()]).toEqual([true, world.reference]);
  });

  test('goes on while the store is away, and is sure for ten minutes', async () => {
    const world = new World();
    const clock = await world.started();
    world.isAway = true;
    await world.time.advance(599_999);
    expect([clock.isSure, clock.now()]).toEqual([true, world.reference]);
    await world.time.advance(1);
    expect([clock.isSure, clock.now()]).toEqual([false, world.reference]);
    world.isAway = false;
    await world.time.advance(1_000);
    expect(clock.isSure).toBe(true);
    expect(world.log.lines.map(({ message }) => message)).toEqual(['the reference clock cannot be read']);
  });

  test('that cannot be measured at the start is not sure, and is as soon as it can', async () => {
    const world = new World();
    world.isAway = true;
    const clock = await world.started();
    expect([clock.isSure, clock.now()]).toEqual([false, START]);
    world.isAway = false;
    await world.time.advance(100);
    expect([clock.isSure, clock.now()]).toEqual([true, world.reference]);
  });

  test('that was stopped asks no more', async () => {
    const world = new World();
    const clock = await world.started();
    clock.stop();
    const { asked } = world;
    await world.time.advance(10_000);
    expect([world.asked, world.time.pending]).toEqual([asked, 0]);
  });
});
