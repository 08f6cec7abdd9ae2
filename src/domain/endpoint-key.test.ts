import { describe, expect, test } from 'vitest';
import { endpointKeyOf, endpointOf } from './endpoint-key.ts';
import type { EndpointId } from './id.ts';

describe('the key of an endpoint is', () => {
  test.for([
    ['https://example.com/hook', 'https://example.com/hook'],
    ['https://example.com/hook?tenant=1', 'https://example.com/hook'],
    ['https://example.com/hook#part', 'https://example.com/hook'],
    ['https://EXAMPLE.com:443/hook', 'https://example.com/hook'],
    ['https://example.com:8443/hook', 'https://example.com:8443/hook'],
    ['https://example.com', 'https://example.com/'],
    ['https://example.com/a/../b', 'https://example.com/b'],
    ['https://example.com/Hook', 'https://example.com/Hook'],
    ['http://example.com/hook', 'http://example.com/hook'],
    ['https://[2606:4700::1]/x', 'https://[2606:4700::1]/x'],
  ] as const)('origin and path of the inline URL: %s', ([url, key]) => {
    expect(endpointKeyOf({ endpointId: null, url })).toBe(key);
  });

  test('the id of the profile, with any URL', () => {
    const endpointId = 'ep_1' as EndpointId;
    expect(endpointKeyOf({ endpointId, url: 'https://example.com/hook' })).toBe('ep_1');
    expect(endpointKeyOf({ endpointId, url: 'https://example.org/' })).toBe('ep_1');
  });

  test('cut and followed by a digest when it is long', () => {
    const url = (end: string) => `https://example.com/${'x'.repeat(8_000)}${end}`;
    const [one, other] = ['1', '2'].map((end) => endpointOf({ endpointId: null, url: url(end) }));
    expect(one?.endpoint).toMatch(/^https:\/\/example\.com\/x+~[0-9a-f]{64}$/);
    expect([one?.endpoint.length, one?.origin]).toEqual([512, 'https://example.com']);
    expect(one?.endpoint).not.toBe(other?.endpoint);
    // A key is the key of itself, so that a person may give it.
    expect(endpointKeyOf({ endpointId: null, url: one?.endpoint ?? '' })).toBe(one?.endpoint);
    const host = endpointOf({ endpointId: null, url: `https://${'x'.repeat(8_000)}/` });
    expect(host.origin).toHaveLength(512);
  });

  test('the text itself when it is not a URL', () => {
    expect(endpointKeyOf({ endpointId: null, url: 'no url' })).toBe('no url');
  });
});
