import { describe, expect, test } from 'vitest';
import { hideQueriesFrom } from './hidden-queries.ts';

const noPause = async () => {};

async function shown(value: unknown, pause = noPause): Promise<unknown> {
  return JSON.parse(
    (await hideQueriesFrom('viewer', { status: 200, body: JSON.stringify(value) }, pause)).body,
  );
}

describe('an answer to a viewer', () => {
  test.each<[what: string, value: unknown, expected: unknown]>([
    ['in any field', { a: 'https://a.example/?b=c' }, { a: 'https://a.example/?…' }],
    [
      'in a list',
      { data: [{ url: 'http://a.example/x?b' }, 1] },
      { data: [{ url: 'http://a.example/x?…' }, 1] },
    ],
    ['as the name of a field', { 'https://a.example/?b': 1 }, { 'https://a.example/?…': 1 }],
    ['with quotes in it', { url: 'https://a.example/"?b="c"d' }, { url: 'https://a.example/"?…' }],
    ['with escapes in it', { url: 'https://a.example/\\\n?b\\' }, { url: 'https://a.example/\\\n?…' }],
    ['inside a text', { error: 'https://a.example/?b failed' }, { error: 'https://a.example/?…' }],
    [
      'that looks like metadata',
      { url: 'https://a.example/"metadata":{?b' },
      { url: 'https://a.example/"metadata":{?…' },
    ],
    [
      'beside metadata',
      { metadata: {}, url: 'https://a.example/?b' },
      { metadata: {}, url: 'https://a.example/?…' },
    ],
    [
      'below a field that only looks like metadata',
      { metadata: { a: { b: 'https://a.example/?b' } } },
      { metadata: { a: { b: 'https://a.example/?…' } } },
    ],
  ])('hides a query %s', async (_what, value, expected) => {
    expect(await shown(value)).toEqual(expected);
  });

  test.each<[what: string, value: unknown]>([
    ['other texts', { words: 'Why?', agent: 'a/b?c' }],
    [
      'metadata',
      { id: 'a', metadata: { 'https://a.example/?b': 'https://a.example/?"c"', d: '}' }, e: 'f?' },
    ],
    ['numbers, nulls and the like', { a: [1.5, null, true, '?'] }],
  ])('leaves %s as they are', async (_what, value) => {
    expect(await shown(value)).toEqual(value);
  });

  test('does not change the compared body if only a query changes', async () => {
    const comparedBody = async (query: string) => {
      const body = JSON.stringify({ url: `https://a.example/?${query}` });
      return (await hideQueriesFrom('viewer', { status: 200, body: '{}', comparedBody: body }, noPause))
        .comparedBody;
    };
    expect(await comparedBody('a')).toBe(await comparedBody('b'));
  });

  test('is handled in slices, however large it is and wherever a slice ends', async () => {
    let pauses = 0;
    const pause = async () => {
      pauses += 1;
    };
    const url = `https://a.example/${'"'.repeat(95_000)}?b`;
    const metadata = { label: '"?'.repeat(95_000) };
    expect(await shown({ metadata, url }, pause)).toEqual({ metadata, url: url.slice(0, -1).concat('…') });
    expect(pauses).toBeGreaterThan(15);
  });

  test('takes linear time for many URLs in one string', async () => {
    const url = `https://a.example/${'://'.repeat(100_000)}?b`;
    expect(await shown({ url })).toEqual({ url: url.slice(0, -1).concat('…') });
  });
});

test.each(['operator', 'admin'] as const)('an answer to an %s keeps its queries', async (role) => {
  const answer = { status: 200, body: JSON.stringify({ url: 'https://a.example/?b=c' }) };
  expect(await hideQueriesFrom(role, answer, noPause)).toBe(answer);
});
