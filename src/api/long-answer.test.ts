import { expect, test } from 'vitest';
import { bytesOf, isLongAnswer } from './long-answer.ts';

const PIECE_CHARACTERS = 262_144;

test.for([
  ['a text that fits into one piece', 'x'.repeat(PIECE_CHARACTERS)],
  ['letters', 'x'.repeat(3 * PIECE_CHARACTERS + 1)],
  ['characters of every length', 'aü語🙈'.repeat(PIECE_CHARACTERS)],
  ['surrogate pairs across every boundary', `a${'🙈'.repeat(PIECE_CHARACTERS)}`],
] as const)('%s: the pieces are the bytes of the whole text, with a pause before each', async ([, body]) => {
  let pauses = 0;
  const pieces = await bytesOf(body, async () => {
    pauses += 1;
  });
  expect(Buffer.concat(pieces).equals(Buffer.from(body))).toBe(true);
  expect(pauses).toBeGreaterThanOrEqual(Math.ceil(body.length / PIECE_CHARACTERS));
});

test('an answer is long if it needs more than one piece', () => {
  expect(isLongAnswer('x'.repeat(PIECE_CHARACTERS))).toBe(false);
  expect(isLongAnswer('x'.repeat(PIECE_CHARACTERS + 1))).toBe(true);
});
