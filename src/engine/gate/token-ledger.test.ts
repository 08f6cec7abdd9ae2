import { expect, test } from 'vitest';
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { type Gate, NEW_GATE } from '#src/domain/gate.ts';
import type { Partition } from '#src/domain/project.ts';
import { TokenLedger } from './token-ledger.ts';

const REF: EndpointRef = { partition: 1 as Partition, endpoint: 'a' as EndpointKey };
const BASE: Gate = { ...NEW_GATE };
const LATER: Gate = { ...NEW_GATE };

function setUp() {
  let pins = 0;
  const tokens = new TokenLedger({ pin: () => void pins++, unpin: () => void pins-- });
  return { tokens, pins: () => pins };
}

test('tokens are returned when all are settled and none was used', () => {
  const { tokens } = setUp();
  tokens.take(REF, BASE);
  tokens.take(REF, LATER);
  expect(tokens.settle(REF, false)).toBeNull();
  expect(tokens.settle(REF, false)).toBe(BASE);
});

test('no token is returned when one of them was used', () => {
  const { tokens } = setUp();
  tokens.take(REF, BASE);
  tokens.take(REF, LATER);
  expect([tokens.settle(REF, true), tokens.settle(REF, false)]).toEqual([null, null]);
  tokens.take(REF, LATER);
  expect(tokens.settle(REF, false)).toBe(LATER);
});

test('a gate is pinned once, as long as one of its tokens is open', () => {
  const { tokens, pins } = setUp();
  tokens.take(REF, BASE);
  tokens.take(REF, LATER);
  expect(pins()).toBe(1);
  tokens.settle(REF, true);
  expect(pins()).toBe(1);
  tokens.settle(REF, true);
  expect(pins()).toBe(0);
  tokens.take(REF, BASE);
  tokens.drop(REF);
  tokens.drop(REF);
  expect([pins(), tokens.settle(REF, false)]).toEqual([0, null]);
});
