import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { hasValidHost, pathOfTarget } from './request-target.ts';

describe('the path of a target', () => {
  it.each([
    ['/v1/schedules?limit=1', '/v1/schedules?limit=1'],
    ['//v1/schedules', '//v1/schedules'],
    ['/v1/http://[', '/v1/http://['],
    ['http://x/v1/schedules?limit=1', '/v1/schedules?limit=1'],
    ['HTTPS://User:pw@X.Example:8080/v1/schedules', '/v1/schedules'],
    ['http://[::1]:80/v1', '/v1'],
    ['http://x:/v1', '/v1'],
    ['http://x', '/'],
    ['http://x?a=b/c', '/?a=b/c'],
    ['http://x/a@b:c', '/a@b:c'],
  ])('%s: %s', (target, path) => {
    expect(pathOfTarget(target)).toBe(path);
  });

  it.each(['*', 'x:443', 'ftp://x/v1/schedules', 'http:/v1', ''])('%j leads to no route', (target) => {
    expect(pathOfTarget(target)).toBe('/-');
  });

  it.each([
    'http:///v1/schedules',
    'http://:80/v1',
    'http://user@/v1',
    'http://x:99999/v1',
    'http://x:8o/v1',
    'http://[',
    'http://[::1/v1',
    'http://[1.2.3.4]/v1',
    'http://%zz/v1',
    'http://a b/v1',
    'http://x/v1#a',
    'http://x#/v1',
    '/v1/schedules#a',
  ])('%s is not valid', (target) => {
    expect(pathOfTarget(target)).toBeNull();
  });
});

describe('the Host of a request', () => {
  const isValid = (httpVersion: string, ...rawHeaders: readonly string[]) =>
    hasValidHost({ httpVersion, rawHeaders } as unknown as IncomingMessage);

  it.each(['x', 'x.example:8080', '127.0.0.1', '[::1]:80', '', 'under_score'])('%j is valid', (host) => {
    expect(isValid('1.1', 'Accept', '*/*', 'Host', host)).toBe(true);
  });

  it.each(['a b', 'x/y', 'u@x', 'x:1:2', '[', 'x:70000', 'é'])('%j is not', (host) => {
    expect(isValid('1.1', 'host', host)).toBe(false);
  });

  it('there is one in HTTP/1.1, and at most one in any version', () => {
    expect(isValid('1.1', 'Accept', 'Host')).toBe(false);
    expect(isValid('1.1', 'Host', 'x', 'hOST', 'x')).toBe(false);
    expect(isValid('1.0')).toBe(true);
    expect(isValid('1.0', 'Host', 'x', 'Host', 'y')).toBe(false);
  });
});
