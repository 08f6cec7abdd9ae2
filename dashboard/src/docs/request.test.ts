import { describe, expect, test } from 'vitest';
import { type Parameter, prepare } from './request.ts';

function parameter(place: Parameter['in'], name: string, value: string, isLabels = false): Parameter {
  return { in: place, name, value, isLabels };
}

describe('prepare', () => {
  test('fills the path, the query and the headers, and leaves out what is empty', () => {
    const prepared = prepare('/v1/schedules/{id}/deliveries', [
      parameter('path', 'id', 'sch_1'),
      parameter('query', 'limit', '5'),
      parameter('query', 'cursor', ''),
      parameter('header', 'Prefer', 'handling=strict'),
      parameter('header', 'Sched-Version', ''),
    ]);
    expect(prepared).toEqual({
      url: '/v1/schedules/sch_1/deliveries?limit=5',
      headers: { Prefer: 'handling=strict' },
    });
  });

  test('writes labels as the service reads them', () => {
    const { url } = prepare('/v1/schedules', [
      parameter('query', 'metadata', 'team=billing&region=eu', true),
    ]);
    expect(decodeURIComponent(url)).toBe('/v1/schedules?metadata[team]=billing&metadata[region]=eu');
  });

  test('an id cannot lead to another path or another host', () => {
    for (const id of ['a/../../x', '//example.com', '?x=1', '#x', 'a b', '%2e%2e', '\\']) {
      const { url } = prepare('/v1/schedules/{id}', [parameter('path', 'id', id)]);
      const { origin, pathname } = new URL(url, 'http://sched.test');
      expect([origin, pathname.split('/').length]).toEqual(['http://sched.test', 4]);
      expect(pathname).toMatch(/^\/v1\/schedules\/.+/);
    }
  });

  test.each(['', '.', '..', '$&'])('the id %o', (id) => {
    const made = () => prepare('/v1/schedules/{id}', [parameter('path', 'id', id)]);
    if (id === '$&') expect(made().url).toBe('/v1/schedules/%24%26');
    else expect(made).toThrow('Give the id of an object.');
  });

  test('a header cannot carry a line break', () => {
    const made = () => prepare('/v1/schedules', [parameter('header', 'Idempotency-Key', 'a\r\nHost: b')]);
    expect(made).toThrow('a character that a header cannot have');
  });
});
