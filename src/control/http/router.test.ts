import { describe, expect, test } from 'vitest';
import { Router } from './router.ts';

function routerOf(...patterns: readonly string[]): Router<string> {
  const router = new Router<string>();
  for (const pattern of patterns) router.add('GET', pattern, pattern);
  return router;
}

describe('finding a route', () => {
  const router = routerOf(
    'users',
    'users/:id/remove',
    'replays/:id',
    'replays/count',
    'p/:project/:mode/keys',
  );

  test.each([
    ['users', 'users', {}],
    ['users/usr_1/remove', 'users/:id/remove', { id: 'usr_1' }],
    ['replays/count', 'replays/count', {}],
    ['replays/counts', 'replays/:id', { id: 'counts' }],
    ['p/shop/live/keys', 'p/:project/:mode/keys', { project: 'shop', mode: 'live' }],
    ['users/a%2Fb/remove', 'users/:id/remove', { id: 'a/b' }],
    ['users/%2e%2e/remove', 'users/:id/remove', { id: '..' }],
  ])('%s is %s', (path, pattern, params) => {
    expect(router.match('GET', path)).toEqual({ value: pattern, params });
  });

  test.each([
    '',
    '/',
    'users/',
    '/users',
    'users//remove',
    'users/usr_1',
    'users/%zz/remove',
    'p/shop/live',
    'p/shop/live/keys/',
    'Users',
    '__proto__',
    'constructor',
    'users/'.repeat(10_000),
  ])('%s is no route', (path) => {
    expect(router.match('GET', path)).toBeNull();
  });

  test('another method is another route', () => {
    expect(router.match('POST', 'users')).toBeNull();
  });

  test('if a fixed segment leads to no route, the wildcard is tried', () => {
    const both = routerOf('a/b/c', 'a/:x/d');
    expect(both.match('GET', 'a/b/d')).toEqual({ value: 'a/:x/d', params: { x: 'b' } });
  });

  test('two routes with the same method and path throw', () => {
    expect(() => routerOf('a/:id', 'a/:id')).toThrow('two routes');
  });
});
