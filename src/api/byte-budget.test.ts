import { describe, expect, it } from 'vitest';
import { Refusal } from '#src/domain/errors.ts';
import type { Timers } from '#src/ports/system.ts';
import { ByteBudget, type BytePermit, WAIT_MS_MAX, WAITING_MAX } from './byte-budget.ts';

/** Timers that fire when the test says so. */
function scriptedTimers() {
  const set = new Map<() => void, number>();
  const timers: Timers = {
    after(ms, act) {
      set.set(act, ms);
      return () => void set.delete(act);
    },
  };
  const fire = () => {
    const due = [...set.keys()];
    set.clear();
    for (const act of due) act();
  };
  return { timers, fire, delays: () => [...set.values()] };
}

/** A budget that records granted and refused permits by name, in their order. */
function budgetOf(bytesMax: number) {
  const clock = scriptedTimers();
  const budget = new ByteBudget(bytesMax, clock.timers);
  const granted: string[] = [];
  const refused: string[] = [];
  const acquire = (customer: string, bytes: number, name = customer): BytePermit => {
    const permit = budget.acquire(customer, bytes);
    permit.granted.then(
      () => granted.push(name),
      (error: unknown) => refused.push(error instanceof Refusal ? `${name} ${error.code}` : String(error)),
    );
    return permit;
  };
  /** Waits until grants and refusals are recorded. */
  const settled = async () => {
    await Promise.resolve();
    await Promise.resolve();
    return { granted: [...granted], refused: [...refused] };
  };
  return { budget, acquire, settled, ...clock };
}

describe('bytes', () => {
  it('are granted while some are free, and given back', async () => {
    const { budget, acquire, settled } = budgetOf(100);
    const first = acquire('a', 60);
    expect((await settled()).granted).toEqual(['a']);
    expect(budget.freeBytes).toBe(40);
    first.release();
    first.release();
    expect(budget.freeBytes).toBe(100);
  });

  it('can all be held by one request', async () => {
    const { acquire, settled } = budgetOf(100);
    acquire('a', 100);
    expect((await settled()).granted).toEqual(['a']);
  });

  it('are never all held by one customer', async () => {
    const { budget, acquire, settled } = budgetOf(90);
    for (let i = 0; i < 20; i++) acquire('greedy', 10);
    expect((await settled()).granted).toHaveLength(6);
    expect(budget.waiting).toBe(14);
    acquire('modest', 10);
    expect((await settled()).granted.at(-1)).toBe('modest');
  });

  it('that are held never exceed the budget', () => {
    const { budget, acquire } = budgetOf(100);
    const permits: BytePermit[] = [];
    for (let i = 0; i < 300; i++) {
      permits.push(acquire(`c${i % 50}`, 1 + (i % 9)));
      expect(budget.freeBytes).toBeGreaterThanOrEqual(0);
    }
    for (const permit of permits) {
      permit.release();
      expect(budget.freeBytes).toBeGreaterThanOrEqual(0);
    }
    expect([budget.freeBytes, budget.waiting]).toEqual([100, 0]);
  });
});

describe('a permit that is resized', () => {
  it('gives back bytes that it does not need, and others are granted', async () => {
    const { budget, acquire, settled } = budgetOf(10);
    const first = acquire('a', 10, 'a0');
    acquire('b', 5);
    first.resize(2);
    expect((await settled()).granted).toEqual(['a0', 'b']);
    expect(budget.freeBytes).toBe(3);
    first.release();
    first.resize(9);
    expect(budget.freeBytes).toBe(5);
  });

  it('may take more than is free, and others wait until enough is free again', async () => {
    const { budget, acquire, settled } = budgetOf(10);
    const first = acquire('a', 1, 'a0');
    first.resize(25);
    expect(budget.freeBytes).toBe(-15);
    const waiting = acquire('b', 1);
    waiting.resize(0);
    expect((await settled()).granted).toEqual(['a0']);
    first.release();
    expect((await settled()).granted).toEqual(['a0', 'b']);
    expect(budget.freeBytes).toBe(9);
  });
});

describe('requests that wait', () => {
  it('are served round robin by customer, and in order within one customer', async () => {
    const { acquire, settled } = budgetOf(10);
    const holding = acquire('a', 10, 'a0');
    for (const name of ['a1', 'a2', 'b1', 'b2', 'c1']) acquire(name.slice(0, 1), 5, name);
    expect((await settled()).granted).toEqual(['a0']);
    holding.release();
    expect((await settled()).granted).toEqual(['a0', 'a1', 'b1']);
  });

  it('are not overtaken by smaller ones when they are at the front', async () => {
    const { acquire, settled } = budgetOf(10);
    const [one, two] = [acquire('a', 3, 'a0'), acquire('b', 3, 'b0')];
    acquire('large', 8);
    acquire('small', 1);
    one.release();
    expect((await settled()).granted).toEqual(['a0', 'b0']);
    two.release();
    expect((await settled()).granted).toEqual(['a0', 'b0', 'large', 'small']);
  });

  it('do not wait behind a customer that holds its share', async () => {
    const { acquire, settled } = budgetOf(90);
    for (let i = 0; i < 8; i++) acquire('greedy', 10);
    const { granted } = await settled();
    acquire('b', 10);
    acquire('c', 10);
    expect((await settled()).granted.slice(granted.length)).toEqual(['b', 'c']);
  });

  it('leave the queue when their client disconnects', async () => {
    const { budget, acquire, settled } = budgetOf(10);
    const holding = acquire('a', 10, 'a0');
    const gone = acquire('b', 10);
    acquire('c', 10);
    gone.release();
    expect(budget.waiting).toBe(1);
    holding.release();
    expect(await settled()).toEqual({ granted: ['a0', 'c'], refused: ['b unavailable'] });
  });

  it('are granted when the request in front leaves the queue', async () => {
    const { acquire, settled } = budgetOf(10);
    acquire('a', 5, 'a0');
    const inFront = acquire('b', 10);
    acquire('c', 5);
    inFront.release();
    expect((await settled()).granted).toEqual(['a0', 'c']);
  });

  it('are refused after half a minute, and leave the queue', async () => {
    const { budget, acquire, settled, fire, delays } = budgetOf(10);
    acquire('a', 10, 'a0');
    acquire('b', 10);
    expect(delays()).toEqual([WAIT_MS_MAX]);
    fire();
    expect(await settled()).toEqual({ granted: ['a0'], refused: ['b unavailable'] });
    expect(budget.waiting).toBe(0);
  });

  it('are not refused after they were granted', async () => {
    const { acquire, settled, delays } = budgetOf(10);
    const holding = acquire('a', 10, 'a0');
    acquire('b', 10);
    holding.release();
    expect((await settled()).granted).toEqual(['a0', 'b']);
    expect(delays()).toEqual([]);
  });

  it('are limited, and one customer gets only its share of the queue', async () => {
    const { budget, acquire, settled } = budgetOf(1);
    acquire('a', 1);
    for (let i = 0; i < WAITING_MAX; i++) acquire('greedy', 1);
    expect(budget.waiting).toBeLessThan(WAITING_MAX * 0.67);
    const { refused } = await settled();
    acquire('modest', 1);
    expect((await settled()).refused).toEqual(refused);
  });
});
