import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import type { Arrival } from './arrival.ts';
import { Arrivals, type Kept } from './arrivals.ts';

const arrived = (bytes = 0): Omit<Arrival, 'number'> => ({
  at: instant(0),
  method: 'POST',
  target: '',
  headers: [],
  body: new Uint8Array(bytes),
  signature: { verified: true },
  sent: null,
  delivery: null,
  answered: { kind: 'hangs' },
});

function kept(arrivals: Arrivals): readonly number[] {
  return arrivals.changedAfter(0).map(({ arrival }) => arrival.number);
}

test('the last 200 are kept', () => {
  const arrivals = new Arrivals(() => {});
  for (let count = 0; count < 205; count++) arrivals.add(arrived());
  expect(kept(arrivals)).toHaveLength(200);
  expect(arrivals.first).toBe(6);
  expect(arrivals.find(5)).toBeNull();
  expect(arrivals.find(205)?.number).toBe(205);
});

test('whoever is told of one is told what is gone because of it', () => {
  const firsts: number[] = [];
  const arrivals = new Arrivals(() => firsts.push(arrivals.first));
  for (let count = 0; count < 202; count++) arrivals.add(arrived());
  expect(firsts.slice(-3)).toEqual([1, 2, 3]);
});

test('no more than 16 MiB are kept, whatever was dropped or cleared before', () => {
  const arrivals = new Arrivals(() => {});
  for (let count = 0; count < 20; count++) arrivals.add(arrived(1_048_576));
  expect(kept(arrivals)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
  arrivals.clear();
  expect(arrivals.first).toBe(21);
  for (let count = 0; count < 17; count++) arrivals.add(arrived(1_048_576));
  expect(arrivals.first).toBe(22);
});

test('headers and path count too', () => {
  const arrivals = new Arrivals(() => {});
  const long = {
    ...arrived(),
    target: 'a'.repeat(8_388_608),
    headers: [['b', 'c'.repeat(8_388_608)]] as const,
  };
  arrivals.add(long);
  arrivals.add(arrived());
  expect(arrivals.first).toBe(2);
});

test('what changed after a change is told in the order of the changes, each once', () => {
  const told: Kept[] = [];
  const arrivals = new Arrivals((kept) => told.push(kept));
  const one = arrivals.add(arrived());
  const two = arrivals.add(arrived());
  const { change } = arrivals;
  arrivals.add(arrived());
  arrivals.update(two, { answered: { kind: 'answered', status: 200 } });
  arrivals.update(one, { answered: { kind: 'answered', status: 500 } });
  arrivals.update(one, { answered: { kind: 'gave_up', afterMs: 1 } });
  expect(arrivals.changedAfter(change).map(({ arrival }) => arrival.number)).toEqual([3, 2, 1]);
  expect(told.map((kept) => kept.change)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(arrivals.changedAfter(arrivals.change)).toEqual([]);
});

test('one that is gone stays so', () => {
  const told: Kept[] = [];
  const arrivals = new Arrivals((kept) => told.push(kept));
  const number = arrivals.add(arrived());
  arrivals.clear();
  arrivals.update(number, { answered: { kind: 'gave_up', afterMs: 1 } });
  expect(arrivals.find(number)).toBeNull();
  expect(told).toHaveLength(1);
});
