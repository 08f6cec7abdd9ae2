import { expect, test } from 'vitest';
import { isAlertName, isAlertUrl, shownUrlOf } from './alert.ts';

test('a name is short, readable and trimmed', () => {
  expect(['ops', '#on-call', 'Zoë 🚒', 'x'.repeat(100)].filter((name) => !isAlertName(name))).toEqual([]);
  const wrong = ['', ' ', ' ops', 'ops ', 'a\nb', 'a\u0000b', 'a\u202eb', '\ud800', 'x'.repeat(101)];
  expect(wrong.filter(isAlertName)).toEqual([]);
});

test('a URL is a destination of at most 2,048 characters', () => {
  const base = 'https://hooks.example/services/T/B/secret?key=1';
  expect(isAlertUrl(base, false)).toBe(true);
  expect(isAlertUrl(`${base}${'x'.repeat(2_048 - base.length)}`, false)).toBe(true);
  expect(isAlertUrl(`${base}${'x'.repeat(2_049 - base.length)}`, false)).toBe(false);
  expect(isAlertUrl('http://hooks.example/', false)).toBe(false);
  expect(isAlertUrl('http://hooks.example/', true)).toBe(true);
  expect(isAlertUrl('https://user:word@hooks.example/', true)).toBe(false);
});

test('only the origin of a URL is shown', () => {
  expect(shownUrlOf('https://hooks.example:8443/services/secret?key=secret#x')).toBe(
    'https://hooks.example:8443/…',
  );
});
