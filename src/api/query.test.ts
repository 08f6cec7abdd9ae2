import { describe, expect, test } from 'vitest';
import { LABELS_MAX } from '#src/domain/labels.ts';
import {
  LIMIT_DEFAULT,
  LIMIT_MAX,
  readChoice,
  readInstant,
  readLabels,
  readLimit,
  readText,
} from './query.ts';

function query(text: string): URLSearchParams {
  return new URLSearchParams(text);
}

function refusal(code: string, param: string): Error {
  return expect.objectContaining({ code, param }) as Error;
}

describe('limit', () => {
  test.for([
    ['', 20],
    ['limit=', 20],
    ['limit=1', 1],
    ['limit=50', 50],
    ['limit=100', 100],
    ['limit=101', 100],
    ['limit=999999999999999999999999', 100],
    ['limit=0', 20],
    ['limit=-1', 20],
    ['limit=-999999999999999999999999', 20],
    ['limit=007', 7],
    ['limit=ten', 20],
    ['limit=1.5', 20],
    ['limit=1e2', 20],
    ['limit=0x10', 20],
    ['limit=NaN', 20],
    ['limit=Infinity', 20],
    ['limit=5&limit=7', 5],
    ['limit=[5]', 20],
    ['limit=٥', 20],
  ] as const)('%j is %i', ([text, limit]) => {
    expect(readLimit(query(text))).toBe(limit);
  });

  test('is 20 when left out, 100 at most', () => {
    expect([LIMIT_DEFAULT, LIMIT_MAX]).toEqual([20, 100]);
  });
});

describe('a text', () => {
  test.for([
    ['', null],
    ['name', null],
    ['name=', null],
    ['name=a%20b', 'a b'],
    ['name=0', '0'],
    ['name=first&name=second', 'first'],
    ['NAME=other', null],
  ] as const)('%j is %j', ([text, value]) => {
    expect(readText(query(text), 'name')).toBe(value);
  });
});

describe('a choice', () => {
  const STATES = ['active', 'paused'] as const;

  test('is one of its values, or absent', () => {
    expect(readChoice(query('state=paused'), 'state', STATES)).toBe('paused');
    expect(readChoice(query('state='), 'state', STATES)).toBeNull();
    expect(readChoice(query(''), 'state', STATES)).toBeNull();
  });

  test.for(['Paused', 'paused ', 'constructor', '__proto__', 'active,paused', '0'])(
    '%j is refused',
    (value) => {
      const given = new URLSearchParams({ state: value });
      expect(() => readChoice(given, 'state', STATES)).toThrow(refusal('invalid_request', 'state'));
    },
  );
});

describe('an instant', () => {
  const AT = Date.UTC(2026, 10, 15, 8);

  test.for([
    ['2026-11-15T08:00:00Z', AT],
    ['2026-11-15T10:00:00%2B02:00', AT],
    // The plus of an offset that was not encoded arrives as a space.
    ['2026-11-15T10:00:00+02:00', AT],
    ['2026-11-15T06:00:00-02:00', AT],
    ['2026-11-15T08:00:00.123456Z', AT + 123],
    ['', null],
  ] as const)('%j', ([text, at]) => {
    expect(readInstant(query(`created_after=${text}`), 'created_after', 'down')).toBe(at);
  });

  test.for([
    ['2026-11-15T08:00:00Z', AT],
    ['2026-11-15T08:00:00.1230Z', AT + 123],
    ['2026-11-15T08:00:00.1230001Z', AT + 124],
    ['2026-11-15T10:00:00.000000001+02:00', AT + 1],
  ] as const)('%j rounded up', ([text, at]) => {
    expect(readInstant(query(`created_before=${text}`), 'created_before', 'up')).toBe(at);
  });

  test.for([
    'yesterday',
    '2026-11-15',
    '2026-11-15T08:00:00',
    '2026-11-15+08:00:00Z',
    '1794729600000',
    '2026-13-15T08:00:00Z',
  ])('%j is refused', (text) => {
    const read = () => readInstant(query(`created_after=${text}`), 'created_after', 'down');
    expect(read).toThrow(refusal('invalid_request', 'created_after'));
  });
});

describe('labels', () => {
  test.for([
    ['', []],
    ['metadata[team]=ops', [['team', 'ops']]],
    ['metadata%5Bteam%5D=ops', [['team', 'ops']]],
    ['metadata[team]=', []],
    ['metadata[]=ops', []],
    ['metadata=ops', []],
    ['metadata[team=ops', []],
    ['xmetadata[team]=ops', []],
    [
      'metadata[a]=1&state=active&metadata[b]=2',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    [
      'metadata[a]=1&metadata[a]=2',
      [
        ['a', '1'],
        ['a', '2'],
      ],
    ],
    ['metadata[a][b]=1', [['a][b', '1']]],
    ['metadata[]]=1', [[']', '1']]],
    ['metadata[__proto__]=x', [['__proto__', 'x']]],
    ['metadata[%F0%9F%99%88]=%C3%BC+1', [['🙈', 'ü 1']]],
    ['metadata[a%0Ab]=c%0Ad', [['a\nb', 'c\nd']]],
  ] as const)('%j', ([text, labels]) => {
    expect(readLabels(query(text))).toEqual(labels);
  });

  test('are limited to as many as a schedule can have', () => {
    const filters = (count: number) =>
      query(Array.from({ length: count }, (_, i) => `metadata[label${i}]=x`).join('&'));
    expect(readLabels(filters(LABELS_MAX))).toHaveLength(50);
    expect(() => readLabels(filters(LABELS_MAX + 1))).toThrow(refusal('invalid_request', 'metadata'));
  });
});
