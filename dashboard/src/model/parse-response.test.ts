import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readStrictly } from '../../../sdk/src/json/read-json.ts';
import { parseResponse } from './parse-response.ts';

test('keys are parsed correctly, independent of texts that were parsed before', () => {
  parseResponse('{"order":"a","gr\\\\u0":"x"}');
  expect(parseResponse('{"order":"b","gr\\u00f6\\u00dfe":"y"}')).toEqual({ order: 'b', größe: 'y' });
});

test('the result equals that of the strict parser for any value', () => {
  const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', '0', '1', '\\', '"', 'a\\u0', '":{'));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(null, true, ''),
      fc.array(tie('value')),
      fc.dictionary(key, tie('value')),
    ),
  }));
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (original, indent) => {
      const text = JSON.stringify(original, null, indent);
      expect(JSON.stringify(parseResponse(text))).toBe(JSON.stringify(readStrictly(text)));
    }),
    { numRuns: 500 },
  );
});
