import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { LatelyKnown } from './lately-known.ts';

test('a text that was asked for lately is known, and few others are kept', () => {
  const known = new LatelyKnown<number>();
  for (let at = 0; at < 5_000; at++) {
    known.learn(`text ${at}`, () => at);
    expect(known.get(`text ${at}`)).toBe(at);
  }
  expect(known.get('text 0')).toBe(undefined);
});

test('every text is told from others, one with half a character too', () => {
  const known = new LatelyKnown<string>();
  for (const text of ['\ud800', '\ufffd', '\u0000', '']) known.learn(text, (copy) => copy);
  for (const text of ['\ud800', '\ufffd', '\u0000', '']) expect(known.get(text)).toBe(text);
});

test('a text that was cut out of a large one does not keep that in memory', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const known = new LatelyKnown<string>();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 200; at++) {
    const large = Buffer.from(`https://example.com/${at}`.padEnd(1_000_000, ' ')).toString('latin1');
    known.learn(large.slice(0, 23), (copy) => `${at} ${copy}`);
  }
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000);
  expect(known.get('https://example.com/199')).toBe('199 https://example.com/199');
});
