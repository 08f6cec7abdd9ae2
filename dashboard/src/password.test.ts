import { expect, test } from 'vitest';
import { browserName } from './browser-name.ts';
import { ratePassword } from './password.ts';

test.each([
  ['', 'ada', 0],
  ['short', 'ada', 0],
  ['ada-is-the-best', 'ada', 1],
  ['abababababababab', 'ada', 1],
  ['plum tree rain', 'ada', 2],
  ['plum tree rain harbour', 'ada', 3],
])('"%s" of user %s has strength %d', (password, name, strength) => {
  expect(ratePassword(password, name).strength).toBe(strength);
});

test('a browser has a short name', () => {
  const chrome =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0 Safari/537.36';
  expect(browserName(chrome)).toBe('Chrome on Linux');
  expect(browserName(`${chrome} Edg/153.0`)).toBe('Edge on Linux');
  expect(browserName('')).toBe('Unknown');
  expect(browserName('x'.repeat(500))).toHaveLength(40);
});
