import { expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointId } from '#src/domain/id.ts';
import { PARTITION } from '#test/engine-harness.ts';
import { Builders } from '#test/store-contract/builders.ts';
import { NotificationHints } from './notification-hints.ts';

function hinting() {
  const build = new Builders(PARTITION);
  const state = { now: 0, hinted: 0 };
  const hints = new NotificationHints({ elapsed: () => state.now }, { due: () => void state.hinted++ });
  const { pending } = build.schedule({});
  const to = (endpointId: string): Delivery => ({
    ...pending,
    notificationOf: pending.id,
    target: { ...pending.target, endpointId: endpointId as EndpointId },
  });
  const make = (count: number, endpointId = 'ep_1') => {
    const before = state.hinted;
    for (let made = 0; made < count; made++) hints.due(to(endpointId));
    return state.hinted - before;
  };
  return { state, hints, make };
}

test('of many notifications at once, the first are hinted, and a scan finds the others', () => {
  const { state, make } = hinting();
  expect(make(100)).toBe(11);
  expect(make(100, 'ep_2')).toBe(11);
  state.now += 900;
  expect(make(100)).toBe(0);
  state.now += 100;
  expect(make(100)).toBe(11);
});

test('all are hinted while the gate would let them pass', () => {
  const { state, make } = hinting();
  for (let second = 0; second < 3; second++) {
    for (let each = 0; each < 50; each++) {
      expect(make(1)).toBe(1);
      state.now += 20;
    }
  }
});

test('without a notification there is no hint', () => {
  const { state, hints } = hinting();
  hints.due(null);
  hints.due(undefined);
  expect(state.hinted).toBe(0);
});
