import { describe, expect, it } from 'vitest';
import type { AttemptInfo } from '../../../src/control/http/data-contract.ts';
import { attemptRows, axisTicks, positionOf } from './waterfall.ts';

function attempt(changes: Partial<AttemptInfo> = {}): AttemptInfo {
  return {
    attempt_no: 1,
    outcome: 'success',
    status_code: 200,
    due_at: '2026-11-15T12:00:00.000Z',
    fired_at: '2026-11-15T12:00:00.020Z',
    finished_at: '2026-11-15T12:00:00.120Z',
    lateness_ms: 20,
    claimed_ms: null,
    connected_ms: 30,
    first_byte_ms: 90,
    end_ms: 100,
    was_connected_before: false,
    response_kept: false,
    error: null,
    words: '',
    ...changes,
  };
}

describe('the phases of an attempt', () => {
  it('follow each other from the due instant to the end', () => {
    const [row] = attemptRows([attempt()]);
    expect(row?.phases).toEqual([
      { name: 'late', fromMs: 0, untilMs: 20 },
      { name: 'connect', fromMs: 20, untilMs: 50 },
      { name: 'wait', fromMs: 50, untilMs: 110 },
      { name: 'read', fromMs: 110, untilMs: 120 },
    ]);
    expect(row?.totalMs).toBe(120);
  });

  it('include claiming, before or after the fire', () => {
    expect(attemptRows([attempt({ claimed_ms: -5 })])[0]?.phases.slice(0, 3)).toEqual([
      { name: 'late', fromMs: 0, untilMs: 15 },
      { name: 'claimed', fromMs: 15, untilMs: 20 },
      { name: 'connect', fromMs: 20, untilMs: 50 },
    ]);
    expect(attemptRows([attempt({ claimed_ms: 4 })])[0]?.phases.slice(0, 2)).toEqual([
      { name: 'late', fromMs: 0, untilMs: 20 },
      { name: 'claimed', fromMs: 20, untilMs: 24 },
    ]);
  });

  it('end with the phase that failed', () => {
    const names = (changes: Partial<AttemptInfo>) =>
      attemptRows([attempt(changes)])[0]?.phases.map((phase) => phase.name);
    const unconnected = { connected_ms: null, first_byte_ms: null };
    expect(names({ ...unconnected, claimed_ms: 1 })).toEqual(['late', 'claimed', 'connect']);
    expect(names(unconnected)).toEqual(['late', 'sent']);
    expect(names({ first_byte_ms: null })).toEqual(['late', 'connect', 'wait']);
  });

  it('end at the finish instant without stored timing, and have no end while in flight', () => {
    const untimed = { connected_ms: null, first_byte_ms: null, end_ms: null };
    expect(attemptRows([attempt(untimed)])[0]?.totalMs).toBe(120);
    expect(attemptRows([attempt({ ...untimed, finished_at: null })])[0]?.phases).toEqual([
      { name: 'late', fromMs: 0, untilMs: 20 },
    ]);
  });

  it('never have a negative length, even if a clock was set back', () => {
    const [row] = attemptRows([attempt({ lateness_ms: -3, first_byte_ms: 10, connected_ms: 30 })]);
    for (const phase of row?.phases ?? []) expect(phase.untilMs).toBeGreaterThanOrEqual(phase.fromMs);
  });
});

it('the wait before a retry lasts from the end of the previous attempt to the due instant', () => {
  const second = attempt({ attempt_no: 2, due_at: '2026-11-15T12:00:10.120Z' });
  expect(attemptRows([attempt(), second]).map((row) => row.waitMs)).toEqual([null, 10_000]);
});

describe('the axis', () => {
  it('is linear, so that stacked bars can be compared by their length', () => {
    expect(positionOf(0, 30_000)).toBe(0);
    expect(positionOf(3_000, 30_000)).toBe(0.1);
    expect(positionOf(40_000, 30_000)).toBe(1);
  });

  it('has round ticks and room for the longest attempt', () => {
    expect(axisTicks(attemptRows([attempt(), attempt({ end_ms: 163 })]))).toEqual([0, 50, 100, 150, 200]);
  });

  it('has a length even without any attempt', () => {
    expect(axisTicks([])).toEqual([0, 5, 10]);
  });
});
