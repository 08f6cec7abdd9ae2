import { expect, test } from 'vitest';
import type { ArrivalSummary } from '../../../src/inbox/contract.ts';
import { attemptsOf, type InboxState, listed, receive, select, UNCONNECTED } from './state.ts';

const MODE = { answer: '500', times: 1 } as const;
const ABOUT = { curl: 'curl', sample: { key: 'key', body: {} }, hook: 'http://127.0.0.1/inbox/hook' };

function arrivalOf(number: number, deliveryId?: string): ArrivalSummary {
  return {
    number,
    at: 0,
    method: 'POST',
    target: '/',
    bytes: 0,
    signature: { verified: true },
    answered: { kind: 'hangs' },
    delivery:
      deliveryId === undefined ? null : { id: deliveryId, attempt: number, lateness_ms: 0, now: null },
  };
}

function hello(state: InboxState, isNew: boolean): InboxState {
  return receive(state, { name: 'hello', data: { ...ABOUT, isNew, answer: MODE, first: 1 } });
}

function arrive(state: InboxState, number: number, first = 1): InboxState {
  return receive(state, { name: 'arrival', data: { arrival: arrivalOf(number), first } });
}

const numbersOf = (state: InboxState) => listed(state).map(({ number }) => number);
const withThree = [1, 2, 3].reduce((state, number) => arrive(state, number), hello(UNCONNECTED, true));

test('the newest arrival is first and selected, until the user selects an older one', () => {
  expect(numbersOf(withThree)).toEqual([3, 2, 1]);
  expect(withThree.selected).toBe(3);
  const older = arrive(select(withThree, 2), 4);
  expect(older.selected).toBe(2);
  expect(arrive(select(older, 4), 5).selected).toBe(5);
});

test('an event that is received twice changes nothing', () => {
  expect(arrive(select(withThree, 1), 2)).toEqual(select(withThree, 1));
});

test('dropped arrivals leave the list, and the selection follows the newest again', () => {
  const selected = arrive(select(withThree, 1), 4, 2);
  expect(numbersOf(selected)).toEqual([4, 3, 2]);
  expect(selected).toMatchObject({ selected: null, isFollowing: true });
  const cleared = receive(withThree, { name: 'cleared', data: { first: 4 } });
  expect(cleared).toMatchObject({ selected: null, isFollowing: true });
  expect(numbersOf(cleared)).toEqual([]);
  expect(arrive(cleared, 4, 4).selected).toBe(4);
});

test('a page that comes back keeps its arrivals, and forgets those of another run', () => {
  expect(numbersOf(hello(withThree, false))).toEqual([3, 2, 1]);
  expect(hello(withThree, true)).toMatchObject({ selected: null, mode: MODE, about: ABOUT });
  expect(numbersOf(hello(withThree, true))).toEqual([]);
});

test('the attempts of a delivery come in their order', () => {
  const ofOne = [2, 1].map((number) => arrivalOf(number, 'dlv_1'));
  const arrivals = [...ofOne, arrivalOf(3, 'dlv_2'), arrivalOf(4)];
  const state = { ...UNCONNECTED, arrivals: new Map(arrivals.map((each) => [each.number, each])) };
  expect(attemptsOf(state, arrivalOf(1, 'dlv_1')).map(({ number }) => number)).toEqual([1, 2]);
  expect(attemptsOf(state, arrivalOf(4))).toEqual([]);
});
