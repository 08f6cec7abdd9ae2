import { describe, expect, it, vi } from 'vitest';
import { bodyGuesses } from './body-guesses.ts';

function nested(depth: number, inside: string): string {
  return `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`;
}

function sizes(body: string): readonly number[] {
  return Array.from(bodyGuesses(Buffer.from(body)), (guess) => guess.body.length);
}

function guessed(body: string): readonly string[] {
  return Array.from(bodyGuesses(Buffer.from(body)), (guess) => Buffer.from(guess.body).toString());
}

const ONES = `1${',1'.repeat(32_000)}`;

describe('a guessed JSON body', () => {
  it.each([
    ['flat', `[${ONES}]`],
    ['deep and wide', nested(500, ONES)],
    ['at the maximum depth, and wide', nested(32, ONES)],
    ['deep', nested(30_000, '')],
    ['of objects', nested(30, `{"a":{"b":{}}}${',{"a":{"b":{}}}'.repeat(4_000)}`)],
    ['of long numbers', `[1e20${',1e20'.repeat(12_000)}]`],
    ['beyond ASCII', `"${'ü'.repeat(32_000)}"`],
  ])('is not much longer than the body that arrived: %s', (_shape, body) => {
    const bytes = Buffer.byteLength(body);
    expect(Math.max(...sizes(body))).toBeLessThan(6 * bytes);
  });

  it('is written only on demand', () => {
    const stringify = vi.spyOn(JSON, 'stringify');
    const guesses = bodyGuesses(Buffer.from('{"a":1}'));
    guesses.next();
    const written = stringify.mock.calls.length;
    stringify.mockRestore();
    expect(written).toBe(0);
  });

  // One body reaches the limit exactly, and one exceeds it by one. This proves the computed length.
  it.each([
    ['numbers', (n: number) => `[${'[1,2],'.repeat(n)}[]]`],
    ['objects', (n: number) => `{"a":[${'{"b":1,"c":{}},'.repeat(n)}{}]}`],
    ['strings with brackets', (n: number) => `[${'["[{,:\\"]}","\\\\"],'.repeat(n)}{ },[ ]]`],
  ])('is indented if and only if the result is not too long: %s', (_shape, bodyOf) => {
    const seen = new Set<boolean>();
    for (let n = 1; n < 400; n += 7) {
      for (const depth of [0, 2, 4, 6, 9]) {
        const body = nested(depth, bodyOf(n));
        const indented = JSON.stringify(JSON.parse(body), null, 4);
        const isAllowed = indented.length <= Math.max(4 * body.length, 4_096);
        seen.add(isAllowed);
        expect(guessed(body).includes(indented)).toBe(isAllowed);
      }
    }
    expect(seen.size).toBe(2);
  });

  it.each([
    [32, true],
    [33, false],
  ])('nested %i deep: %s', (depth, isGuessed) => {
    const body = nested(depth, '1');
    expect(guessed(body).includes(JSON.stringify(JSON.parse(body), null, 2))).toBe(isGuessed);
  });
});
