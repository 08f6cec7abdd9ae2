import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { type Arrival, Arrivals, type VersionedArrival } from './arrivals.ts';

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

test('the last 200 arrivals are kept', () => {
  const arrivals = new Arrivals('run', () => {});
  for (let count = 0; count < 205; count++) arrivals.add(arrived());
  expect(kept(arrivals)).toHaveLength(200);
  expect(arrivals.first).toBe(6);
  expect(arrivals.find(5)).toBeNull();
  expect(arrivals.find(205)?.number).toBe(205);
});

test('the event of an arrival already reports which arrivals it displaced', () => {
  const firsts: number[] = [];
  const arrivals = new Arrivals('run', () => firsts.push(arrivals.first));
  for (let count = 0; count < 202; count++) arrivals.add(arrived());
  expect(firsts.slice(-3)).toEqual([1, 2, 3]);
});

test('at most 16 MiB are kept, also after arrivals were dropped or cleared', () => {
  const arrivals = new Arrivals('run', () => {});
  for (let count = 0; count < 20; count++) arrivals.add(arrived(1_048_576));
  expect(kept(arrivals)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
  arrivals.clear();
  expect(arrivals.first).toBe(21);
  for (let count = 0; count < 17; count++) arrivals.add(arrived(1_048_576));
  expect(arrivals.first).toBe(22);
});

test('headers and path count towards the size', () => {
  const arrivals = new Arrivals('run', () => {});
  const long = {
    ...arrived(),
    target: 'a'.repeat(8_388_608),
    headers: [['b', 'c'.repeat(8_388_608)]] as const,
  };
  arrivals.add(long);
  arrivals.add(arrived());
  expect(arrivals.first).toBe(2);
});

test('arrivals that changed after a version are listed once each, in the order of their last change', () => {
  const reported: VersionedArrival[] = [];
  const arrivals = new Arrivals('run', (changed) => reported.push(changed));
  const one = arrivals.add(arrived());
  const two = arrivals.add(arrived());
  const { version } = arrivals;
  arrivals.add(arrived());
  arrivals.update(two, { answered: { kind: 'answered', status: 200 } });
  arrivals.update(one, { answered: { kind: 'answered', status: 500 } });
  arrivals.update(one, { answered: { kind: 'gave_up', afterMs: 1 } });
  expect(arrivals.changedAfter(version).map(({ arrival }) => arrival.number)).toEqual([3, 2, 1]);
  expect(reported.map((changed) => changed.version)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(arrivals.changedAfter(arrivals.version)).toEqual([]);
});

test('an update of a dropped arrival is ignored', () => {
  const reported: VersionedArrival[] = [];
  const arrivals = new Arrivals('run', (changed) => reported.push(changed));
  const number = arrivals.add(arrived());
  arrivals.clear();
  arrivals.update(number, { answered: { kind: 'gave_up', afterMs: 1 } });
  expect(arrivals.find(number)).toBeNull();
  expect(reported).toHaveLength(1);
});

test('only event ids of this run count', () => {
  const arrivals = new Arrivals('run', () => {});
  expect(arrivals.eventId(12)).toBe('run-12');
  expect(arrivals.versionOf('run-12')).toBe(12);
  for (const id of ['', 'run', 'run-', 'run-x', 'other-12', 'run--1', 'run-1e3']) {
    expect(arrivals.versionOf(id)).toBe(0);
  }
});
