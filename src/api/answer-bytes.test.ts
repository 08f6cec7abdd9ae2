import { expect, test } from 'vitest';
import { bytesOf, isLongAnswer } from './answer-bytes.ts';

const PIECE_CHARACTERS = 262_144;

test.for([
  ['one that fits into a piece', 'x'.repeat(PIECE_CHARACTERS)],
  ['letters', 'x'.repeat(3 * PIECE_CHARACTERS + 1)],
  ['characters of every length', 'aü語🙈'.repeat(PIECE_CHARACTERS)],
  ['characters that are written as two, across every piece', `a${'🙈'.repeat(PIECE_CHARACTERS)}`],
] as const)('%s: the bytes are those of the whole, and none holds the thread for long', async ([, body]) => {
  let pauses = 0;
  const pieces = await bytesOf(body, async () => {
    pauses += 1;
  });
  expect(Buffer.concat(pieces).equals(Buffer.from(body))).toBe(true);
  expect(pauses).toBeGreaterThanOrEqual(Math.ceil(body.length / PIECE_CHARACTERS));
});

test('an ordinary answer is not long', () => {
  expect(isLongAnswer('x'.repeat(PIECE_CHARACTERS))).toBe(false);
  expect(isLongAnswer('x'.repeat(PIECE_CHARACTERS + 1))).toBe(true);
});
