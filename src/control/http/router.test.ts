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
    ['%75sers', 'users', {}],
    ['replays/a%252Fb', 'replays/:id', { id: 'a%2Fb' }],
    ['replays/a%3Fb%23c;d+e', 'replays/:id', { id: 'a?b#c;d+e' }],
    ['replays/__proto__', 'replays/:id', { id: '__proto__' }],
    ['replays/%E2%82%AC', 'replays/:id', { id: '€' }],
    [`replays/${'x'.repeat(100)}`, 'replays/:id', { id: 'x'.repeat(100) }],
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
    'replays/%',
    'replays/%c3',
    'replays/',
    'replays/a#b',
    'p//live/keys',
    'p/shop//keys',
    `replays/${'x'.repeat(101)}`,
    `replays/${'%25'.repeat(3_000)}`,
    'http://host/users',
    'p/shop/live',
    'p/shop/live/keys/',
    'Users',
    '__proto__',
    'constructor',
    'users/'.repeat(10_000),
  ])('%s is no route', (path) => {
    expect(router.match('GET', path)).toBeNull();
  });

  test.each(['POST', 'HEAD', 'OPTIONS', 'get', 'BREW', '__proto__', 'constructor'])(
    'another method is another route: %s',
    (method) => {
      expect(router.match(method, 'users')).toBeNull();
    },
  );

  test('if a fixed segment leads to no route, the wildcard is tried', () => {
    const both = routerOf('a/b/c', 'a/:x/d');
    expect(both.match('GET', 'a/b/d')).toEqual({ value: 'a/:x/d', params: { x: 'b' } });
  });

  test('two routes with the same method and path throw', () => {
    expect(() => routerOf('a/:id', 'a/:id')).toThrow('already declared');
  });
});
