import { describe, expect, it } from 'vitest';
import { Refusal } from '#src/domain/errors.ts';
import type { Timers } from '#src/ports/system.ts';
import { type Admission, ByteBudget, WAIT_MS_MAX, WAITING_MAX } from './byte-budget.ts';

/** Timers that go when they are told to. */
function handTimers() {
  const set = new Map<() => void, number>();
  const timers: Timers = {
    after(ms, act) {
      set.set(act, ms);
      return () => void set.delete(act);
    },
  };
  const go = () => {
    const due = [...set.keys()];
    set.clear();
    for (const act of due) act();
  };
  return { timers, go, delays: () => [...set.values()] };
}

/** A budget whose admissions are noted by name, in their order. */
function budgetOf(bytesMax: number) {
  const clock = handTimers();
  const budget = new ByteBudget(bytesMax, clock.timers);
  const admitted: string[] = [];
  const refused: string[] = [];
  const enter = (customer: string, bytes: number, name = customer): Admission => {
    const admission = budget.enter(customer, bytes);
    admission.admitted.then(
      () => admitted.push(name),
      (error: unknown) => refused.push(error instanceof Refusal ? `${name} ${error.code}` : String(error)),
    );
    return admission;
  };
  /** Lets what was admitted or refused be heard of. */
  const settled = async () => {
    await Promise.resolve();
    await Promise.resolve();
    return { admitted: [...admitted], refused: [...refused] };
  };
  return { budget, enter, settled, ...clock };
}

describe('bytes', () => {
  it('are admitted while there are any, and given back', async () => {
    const { budget, enter, settled } = budgetOf(100);
    const first = enter('a', 60);
    expect((await settled()).admitted).toEqual(['a']);
    expect(budget.freeBytes).toBe(40);
    first.leave();
    first.leave();
    expect(budget.freeBytes).toBe(100);
  });

  it('as many as there are can be had by one request', async () => {
    const { enter, settled } = budgetOf(100);
    enter('a', 100);
    expect((await settled()).admitted).toEqual(['a']);
  });

  it('of one customer never take all: others find some', async () => {
    const { budget, enter, settled } = budgetOf(90);
    for (let i = 0; i < 20; i++) enter('greedy', 10);
    expect((await settled()).admitted).toHaveLength(6);
    expect(budget.waiting).toBe(14);
    enter('modest', 10);
    expect((await settled()).admitted.at(-1)).toBe('modest');
  });

  it('of many customers are never more than there are', () => {
    const { budget, enter } = budgetOf(100);
    const all: Admission[] = [];
    for (let i = 0; i < 300; i++) {
      all.push(enter(`c${i % 50}`, 1 + (i % 9)));
      expect(budget.freeBytes).toBeGreaterThanOrEqual(0);
    }
    for (const admission of all) {
      admission.leave();
      expect(budget.freeBytes).toBeGreaterThanOrEqual(0);
    }
    expect([budget.freeBytes, budget.waiting]).toEqual([100, 0]);
  });
});

describe('bytes whose number was not known before', () => {
  it('are given back where fewer are needed, and others go', async () => {
    const { budget, enter, settled } = budgetOf(10);
    const first = enter('a', 10, 'a0');
    enter('b', 5);
    first.resize(2);
    expect((await settled()).admitted).toEqual(['a0', 'b']);
    expect(budget.freeBytes).toBe(3);
    first.leave();
    first.resize(9);
    expect(budget.freeBytes).toBe(5);
  });

  it('are had where more are needed, and others wait until there are some again', async () => {
    const { budget, enter, settled } = budgetOf(10);
    const first = enter('a', 1, 'a0');
    first.resize(25);
    expect(budget.freeBytes).toBe(-15);
    const waiting = enter('b', 1);
    waiting.resize(0);
    expect((await settled()).admitted).toEqual(['a0']);
    first.leave();
    expect((await settled()).admitted).toEqual(['a0', 'b']);
    expect(budget.freeBytes).toBe(9);
  });
});

describe('requests that wait', () => {
  it('take turns by customer, and within one go in their order', async () => {
    const { enter, settled } = budgetOf(10);
    const holding = enter('a', 10, 'a0');
    for (const name of ['a1', 'a2', 'b1', 'b2', 'c1']) enter(name.slice(0, 1), 5, name);
    expect((await settled()).admitted).toEqual(['a0']);
    holding.leave();
    expect((await settled()).admitted).toEqual(['a0', 'a1', 'b1']);
  });

  it('are not overtaken by smaller ones when it is their turn', async () => {
    const { enter, settled } = budgetOf(10);
    const [one, two] = [enter('a', 3, 'a0'), enter('b', 3, 'b0')];
    enter('large', 8);
    enter('small', 1);
    one.leave();
    expect((await settled()).admitted).toEqual(['a0', 'b0']);
    two.leave();
    expect((await settled()).admitted).toEqual(['a0', 'b0', 'large', 'small']);
  });

  it('do not wait behind a customer that has its share', async () => {
    const { enter, settled } = budgetOf(90);
    for (let i = 0; i < 8; i++) enter('greedy', 10);
    const { admitted } = await settled();
    enter('b', 10);
    enter('c', 10);
    expect((await settled()).admitted.slice(admitted.length)).toEqual(['b', 'c']);
  });

  it('leave the queue when their client goes away', async () => {
    const { budget, enter, settled } = budgetOf(10);
    const holding = enter('a', 10, 'a0');
    const gone = enter('b', 10);
    enter('c', 10);
    gone.leave();
    expect(budget.waiting).toBe(1);
    holding.leave();
    expect(await settled()).toEqual({ admitted: ['a0', 'c'], refused: ['b unavailable'] });
  });

  it('let the next one go when the one in front leaves', async () => {
    const { enter, settled } = budgetOf(10);
    enter('a', 5, 'a0');
    const inFront = enter('b', 10);
    enter('c', 5);
    inFront.leave();
    expect((await settled()).admitted).toEqual(['a0', 'c']);
  });

  it('are refused after half a minute, and give up their place', async () => {
    const { budget, enter, settled, go, delays } = budgetOf(10);
    enter('a', 10, 'a0');
    enter('b', 10);
    expect(delays()).toEqual([WAIT_MS_MAX]);
    go();
    expect(await settled()).toEqual({ admitted: ['a0'], refused: ['b unavailable'] });
    expect(budget.waiting).toBe(0);
  });

  it('are not refused once they were admitted', async () => {
    const { enter, settled, delays } = budgetOf(10);
    const holding = enter('a', 10, 'a0');
    enter('b', 10);
    holding.leave();
    expect((await settled()).admitted).toEqual(['a0', 'b']);
    expect(delays()).toEqual([]);
  });

  it('have a bound, of which one customer gets a share', async () => {
    const { budget, enter, settled } = budgetOf(1);
    enter('a', 1);
    for (let i = 0; i < WAITING_MAX; i++) enter('greedy', 1);
    expect(budget.waiting).toBeLessThan(WAITING_MAX * 0.67);
    const { refused } = await settled();
    enter('modest', 1);
    expect((await settled()).refused).toEqual(refused);
  });
});
