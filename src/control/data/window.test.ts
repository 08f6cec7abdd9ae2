import { describe, expect, test } from 'vitest';
import { readInput } from '#src/control/http/fields.ts';
import { instant } from '#src/domain/instant.ts';
import { DAY_MS, inSteps, requireWindow, stepOf, WINDOW_QUERY } from './window.ts';

const NOW = instant(Date.UTC(2026, 10, 15, 8, 0, 30));
const BOUNDS = { defaultMs: 3_600_000, maxMs: 7 * DAY_MS };
const MINUTE_MS = 60_000;

test.each([
  [15, 1],
  [60, 1],
  [6 * 60, 5],
  [24 * 60, 15],
  [48 * 60, 30],
  [7 * 24 * 60, 120],
])('a window of %i minutes has steps of %i', (minutes, stepMinutes) => {
  const window = inSteps({ from: NOW, until: instant(NOW + minutes * MINUTE_MS) });
  expect(window.stepMs).toBe(stepMinutes * MINUTE_MS);
  expect(window.steps).toBeLessThanOrEqual(120);
  expect(window.from).toBeLessThanOrEqual(NOW);
  expect(window.until).toBeGreaterThanOrEqual(NOW + minutes * MINUTE_MS);
  expect(stepOf(window, NOW)).toBe(0);
  expect(stepOf(window, instant(window.until - 1))).toBe(window.steps - 1);
});

describe('the window of a query', () => {
  const windowOf = (query: Readonly<Record<string, string>>) =>
    requireWindow(readInput(WINDOW_QUERY, query), NOW, BOUNDS);

  test('is the default time from now on', () => {
    expect(windowOf({})).toEqual({ from: NOW, until: NOW + 3_600_000 });
  });

  test.each([
    [{ from: 'yesterday' }, 'from'],
    [{ from: '2036-01-01T00:00:00Z' }, 'from'],
    [{ until: '2026-11-15T08:00:00Z' }, 'until'],
    [{ until: '2026-12-15T08:00:00Z' }, 'until'],
  ])('%j is refused', (query, param) => {
    expect(() => windowOf(query)).toThrow(expect.objectContaining({ code: 'invalid_request', param }));
  });
});
