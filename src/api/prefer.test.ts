import { describe, expect, test } from 'vitest';
import { wantsStrict } from './prefer.ts';

describe('a request asks for strict handling with', () => {
  test.each([
    'handling=strict',
    'Handling=Strict',
    ' handling = strict ',
    'handling="strict"',
    'handling="st\\rict"',
    'handling=strict;foo=bar',
    'handling=strict ; foo="a,b"; ;bar',
    'respond-async, handling=strict',
    'respond-async,handling=strict',
    'return=minimal; x="handling=lenient, y", handling=strict',
    'wait=10, , ,, handling=strict, handling=lenient',
    'x="unfinished \\" quote", handling=strict',
    '(malformed), handling=strict',
    'handlings=lenient, handling=strict',
  ])('%s', (prefer) => {
    expect(wantsStrict(prefer)).toBe(true);
  });
});

describe('a request does not ask for strict handling with', () => {
  test.each([
    undefined,
    '',
    ',',
    'handling',
    'handling=',
    'handling=""',
    'handling=lenient',
    'handling=lenient, handling=strict',
    'handling, handling=strict',
    'handling=stricter',
    'handling=very-strict',
    'strict',
    'foo; handling=strict',
    'foo="handling=strict"',
    'foo="a, handling=strict',
    'x-handling=strict',
    'return=minimal',
  ])('%s', (prefer) => {
    expect(wantsStrict(prefer)).toBe(false);
  });
});

test('a header as long as the server accepts is read in linear time', () => {
  for (const part of ['"', '\\', 'a', ' ', ',', '"\\', 'a=', '=";', 'handlin=strict,']) {
    expect(wantsStrict(part.repeat(16_384 / part.length))).toBe(false);
  }
});
