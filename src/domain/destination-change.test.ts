import { expect, test } from 'vitest';
import { isElsewhere, originAndPath } from './destination-change.ts';

const HERE = 'https://receiver.example/orders?token=1';

test.each([
  'https://other.example/orders?token=1',
  'https://receiver.example:8443/orders?token=1',
  'http://receiver.example/orders?token=1',
  'https://receiver.example/other?token=1',
  'https://receiver.example/orders/?token=1',
  'https://receiver.example/Orders?token=1',
  'https://receiver.example.evil.example/orders',
])('%s is elsewhere', (url) => {
  expect(isElsewhere(HERE, url)).toBe(true);
});

test.each([
  HERE,
  'https://receiver.example/orders',
  'https://receiver.example/orders?token=2',
  'https://RECEIVER.example:443/orders#part',
  'https://receiver.example/x/../orders',
])('%s is the same place', (url) => {
  expect(isElsewhere(HERE, url)).toBe(false);
});

test('origin and path are told without the query', () => {
  expect(originAndPath(HERE)).toBe('https://receiver.example/orders');
  expect(originAndPath('no URL')).toBeNull();
});
