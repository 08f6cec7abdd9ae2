import { describe, expect, it } from 'vitest';
import {
  isJsonText,
  isJsonTextInSlices,
  type JsonBounds,
  readJsonInSlices,
  SHORT_JSON_MAX,
  SLICE_CHARACTERS,
} from './json.ts';

const BOUNDS: JsonBounds = { membersMax: 10, depthMax: 3, always: new Set(['last']) };

/** Counts the pauses. */
function pauses() {
  let count = 0;
  const pause = async () => {
    count++;
  };
  return { pause, count: () => count };
}

const LONG = 'x'.repeat(SHORT_JSON_MAX);
const CHARACTERS = 1_000_000;
/** Texts with the highest cost for their length. */
const HOSTILE: readonly (readonly [string, string])[] = [
  ['tiny keys', `{${Array.from({ length: 100_000 }, (_, i) => `"${i.toString(36)}":1`).join()},"last":1}`],
  ['nested arrays', `${'['.repeat(CHARACTERS / 2)}${']'.repeat(CHARACTERS / 2)}`],
  ['numbers', `[${'1,'.repeat(CHARACTERS / 2)}1]`],
  ['escapes', `"${'\\"'.repeat(CHARACTERS / 2)}"`],
  ['spaces', `${' '.repeat(CHARACTERS)}1`],
];

describe('a long text', () => {
  it.each(HOSTILE)('of %s is read with a pause after every slice', async (_what, text) => {
    const reading = pauses();
    await readJsonInSlices(text, BOUNDS, reading.pause);
    expect(reading.count()).toBeGreaterThanOrEqual(Math.floor(text.length / SLICE_CHARACTERS));
    const checking = pauses();
    expect(await isJsonTextInSlices(text, checking.pause)).toBe(true);
    expect(checking.count()).toBe(reading.count());
  });

  it('is built within bounds', async () => {
    const [[, text] = ['', '']] = HOSTILE;
    const { value, isWhole } = await readJsonInSlices(text, BOUNDS, pauses().pause);
    expect(isWhole).toBe(false);
    expect(Object.keys(value as object)).toHaveLength(11);
    expect(value).toMatchObject({ last: 1 });
  });

  it('is refused wherever its error is', async () => {
    const { pause } = pauses();
    for (const text of [`["${LONG}",]`, `["${LONG}"`, `x["${LONG}"]`, `["${LONG}\n"]`]) {
      await expect(readJsonInSlices(text, BOUNDS, pause)).rejects.toThrow(SyntaxError);
      expect(await isJsonTextInSlices(text, pause)).toBe(false);
    }
  });

  it('is not called invalid when the pause fails', async () => {
    const pause = () => Promise.reject(new Error('stopped'));
    await expect(isJsonTextInSlices(`${' '.repeat(CHARACTERS)}1`, pause)).rejects.toThrow('stopped');
  });
});

describe('a short text', () => {
  it('is read as a whole, at once and without bounds', async () => {
    const { pause, count } = pauses();
    const text = JSON.stringify(Array.from({ length: 100 }, (_, i) => [[[[i]]]]));
    const whole = { value: JSON.parse(text), isWhole: true };
    expect(await readJsonInSlices(text, BOUNDS, pause)).toEqual(whole);
    expect(count()).toBe(0);
  });

  it.each([
    ['{"a":[1]}', true],
    ['1', true],
    ['"text"', true],
    ['', false],
    ['text', false],
    ['{"a":1', false],
  ])('%j is JSON: %j', async (text, isJson) => {
    expect(isJsonText(text)).toBe(isJson);
    expect(await isJsonTextInSlices(text, pauses().pause)).toBe(isJson);
  });
});
