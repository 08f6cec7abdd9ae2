import { expect, test } from 'vitest';
import { type Gate, NEW_GATE } from '#src/domain/gate.ts';
import { instant } from '#src/domain/instant.ts';
import { readGate } from './rows.ts';

const GATE: Gate = {
  breaker: { failures: 5, openUntil: instant(7), windowMs: 30_000, probeUntil: instant(9) },
  budget: { terms: { rate: 10, burst: 100 }, tokens: 1, at: instant(3) },
  paces: { '5': { freeAt: 4, at: instant(3) } },
};

test('a gate is read as it was stored', () => {
  expect(readGate(JSON.stringify(GATE))).toEqual(GATE);
});

test('a field that a stored gate lacks is as in a new gate', () => {
  const { paces: _paces, ...withoutPaces } = GATE;
  const { probeUntil: _probeUntil, ...breaker } = GATE.breaker;
  expect(readGate(JSON.stringify({ ...withoutPaces, breaker }))).toEqual({
    ...GATE,
    paces: NEW_GATE.paces,
    breaker: { ...breaker, probeUntil: NEW_GATE.breaker.probeUntil },
  });
});
