import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RoundRobinByNeed } from './round-robin-by-need.ts';

interface Named {
  readonly name: number;
  need: number;
}

test('the member that was served longest ago goes next, of those that need less than is left', () => {
  const robin = new RoundRobinByNeed<Named>();
  const [a, b, c] = [0, 1, 2].map((name) => ({ name, need: 1 })) as [Named, Named, Named];
  for (const member of [a, b, c]) robin.add(member);
  expect([1, 2, 3, 4].map(() => robin.next(2)?.name)).toEqual([0, 1, 2, 0]);
  robin.setNeed(b, 5);
  expect([1, 2, 3].map(() => robin.next(2)?.name)).toEqual([0, 2, 0]);
  expect(robin.next(1)).toBeNull();
});

test('the member with the least need is found after any change', () => {
  const steps = fc.array(
    fc.record({
      act: fc.constantFrom('add', 'remove', 'needs', 'next'),
      name: fc.integer({ min: 0, max: 9 }),
      amount: fc.integer({ min: 0, max: 20 }),
    }),
    { maxLength: 200, size: 'max' },
  );
  fc.assert(
    fc.property(steps, (given) => {
      const robin = new RoundRobinByNeed<Named>();
      const members = Array.from({ length: 10 }, (_, name): Named => ({ name, need: 0 }));
      const here = new Set<Named>();
      for (const { act, name, amount } of given) {
        const member = members[name] as Named;
        if (act === 'add') {
          robin.add(member);
          here.add(member);
        } else if (act === 'remove') {
          robin.remove(member);
          here.delete(member);
        } else if (act === 'needs') robin.setNeed(member, amount);
        else {
          const next = robin.next(amount);
          const may = [...here].filter(({ need }) => need < amount);
          if (next === null) expect(may).toEqual([]);
          else expect(may).toContain(next);
        }
        expect(robin.size).toBe(here.size);
        expect(robin.leastNeed).toBe(Math.min(...[...here].map(({ need }) => need)));
      }
    }),
  );
});

test('finding the next member checks only a few members, however many may not go', () => {
  const robin = new RoundRobinByNeed<Named>();
  let reads = 0;
  for (let name = 0; name < 28_000; name++) {
    let own = 1_000 + name;
    const member: Named = {
      name,
      get need() {
        reads++;
        return own;
      },
      set need(value) {
        own = value;
      },
    };
    robin.add(member);
  }
  const free = { name: -1, need: 0 };
  robin.add(free);
  reads = 0;
  for (let n = 0; n < 100; n++) expect(robin.next(10)).toBe(free);
  expect(reads / 100).toBeLessThan(5);
});

test('every member that may go is served before any is served three times', () => {
  const robin = new RoundRobinByNeed<Named>();
  const members = Array.from({ length: 20 }, (_, name): Named => ({ name, need: name % 4 }));
  for (const member of members) robin.add(member);
  const served = Array.from({ length: 30 }, () => robin.next(3)?.name);
  for (const { name, need } of members) {
    if (need < 3) expect(served).toContain(name);
  }
});
