import { expect, test } from 'vitest';
import { PLAIN, paint, screenOf } from './screen.ts';

const TERMINAL = { isTTY: true, columns: 100 };

test.each([
  ['a terminal', TERMINAL, { TERM: 'xterm' }, false, true],
  ['a pipe', {}, { TERM: 'xterm' }, false, false],
  ['--no-color', TERMINAL, { TERM: 'xterm', FORCE_COLOR: '1' }, true, false],
  ['NO_COLOR', TERMINAL, { NO_COLOR: '1' }, false, false],
  ['an empty NO_COLOR', TERMINAL, { NO_COLOR: '' }, false, true],
  ['a dumb terminal', TERMINAL, { TERM: 'dumb' }, false, false],
  ['FORCE_COLOR in a pipe', {}, { FORCE_COLOR: '1' }, false, true],
  ['FORCE_COLOR=0', TERMINAL, { FORCE_COLOR: '0' }, false, false],
])('%s', (_, stream, env, isRefused, hasColours) => {
  expect(screenOf(stream, env, isRefused).hasColours).toBe(hasColours);
});

test('a pipe has no width, and a terminal at least the width of a readable table', () => {
  expect(screenOf({}, {}, false).columns).toBeNull();
  expect(screenOf(TERMINAL, {}, false).columns).toBe(100);
  expect(screenOf({ isTTY: true }, {}, false).columns).toBe(80);
  expect(screenOf({ isTTY: true, columns: 3 }, {}, false).columns).toBe(40);
});

test('paint changes nothing on a screen without colours', () => {
  expect(paint('x', 'red', { columns: 80, hasColours: true })).toBe('\u001b[31mx\u001b[0m');
  expect(paint('x', 'red', PLAIN)).toBe('x');
  expect(paint('', 'red', { columns: 80, hasColours: true })).toBe('');
});
