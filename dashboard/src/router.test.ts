import { describe, expect, test } from 'vitest';
import { match, pathBelow, withQuery } from './router.ts';

describe('a path', () => {
  test('is relative to the base, without slashes at its ends', () => {
    expect(pathBelow('/dashboard')).toBe('');
    expect(pathBelow('/dashboard/')).toBe('');
    expect(pathBelow('/dashboard/p/default/test/')).toBe('p/default/test');
  });

  test('matches a pattern part by part, with decoded names', () => {
    expect(match('p/:project/:mode', 'p/my%20shop/test')).toEqual({ project: 'my shop', mode: 'test' });
    expect(match('settings/people', 'settings/people')).toEqual({});
    expect(match('p/:project/:mode', 'p/default')).toBeNull();
    expect(match('p/:project/:mode', 'p/default/test/schedules')).toBeNull();
    expect(match('p/:project/schedules', 'p/default/deliveries')).toBeNull();
  });

  test('that cannot be decoded matches nothing', () => {
    expect(match('p/:project', 'p/%E0%A4%A')).toBeNull();
    expect(match('p/:project', 'p/')).toBeNull();
  });
});

test('a query changes by name: null and empty text remove a part, and the rest stays', () => {
  const url = new URL('http://localhost/dashboard/p/a/test/deliveries?status=dead_letter&cursor=x');
  expect(withQuery(url, { cursor: null })).toBe('/dashboard/p/a/test/deliveries?status=dead_letter');
  expect(withQuery(url, { cursor: null, status: '' })).toBe('/dashboard/p/a/test/deliveries');
  expect(withQuery(url, { status: 'a b' })).toBe('/dashboard/p/a/test/deliveries?status=a+b&cursor=x');
});
