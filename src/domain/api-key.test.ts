import { describe, expect, test } from 'vitest';
import { hashKey, keyHint, parseApiKey } from './api-key.ts';

describe('the form of an API key', () => {
  test.each([
    ['sk_test_0123456789abcdef', 'test'],
    ['sk_live_0123456789abcdef', 'live'],
    ['sk_test_any-visible.ASCII~!%', 'test'],
    ['sk_test_sk_live_0123456789', 'test'],
  ] as const)('%s is a key of mode %s', (text, mode) => {
    expect(parseApiKey(text)).toBe(mode);
  });

  test.each([
    ['nothing', ''],
    ['no prefix', '0123456789abcdef0123456789abcdef'],
    ['another prefix', 'pk_test_0123456789abcdef'],
    ['a mode that does not exist', 'sk_prod_0123456789abcdef'],
    ['15 characters after the prefix', 'sk_test_0123456789abcde'],
    ['a space', 'sk_test_01234567 89abcdef'],
    ['a line break at the end', 'sk_test_0123456789abcdef\n'],
    ['a letter outside ASCII', 'sk_test_0123456789abcdé0'],
    ['an upper-case prefix', 'SK_TEST_0123456789abcdef'],
  ])('%s is not a key', (_, text) => {
    expect(parseApiKey(text)).toBeNull();
  });
});

test('a key is stored as its SHA-256 in hex', () => {
  expect(hashKey('sk_test_0123456789abcdef')).toBe(
    '6f752b7237c6e81c9f1fdf06e58fb8ed22cbe0f51ef7eeb5a4b8dd0003d089af',
  );
});

test('the hint of a key is its last four characters', () => {
  expect(keyHint('sk_test_0123456789abcdef')).toBe('cdef');
});
