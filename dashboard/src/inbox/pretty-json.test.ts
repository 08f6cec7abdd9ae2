import { expect, test } from 'vitest';
import { prettyJson } from './pretty-json.ts';

test.for(['{}', '[]', ' [ ] ', '{"a":[],"b":{"c":[1,{"d":null}]}}', '"x"', '-1.5e3', 'true'])(
  '%s is indented as JSON.stringify does it',
  (text) => {
    expect(prettyJson(text)?.replace('1.5e3', '1500')).toBe(JSON.stringify(JSON.parse(text), null, 2));
  },
);

test('numbers, strings and keys stay as they were written', () => {
  expect(prettyJson('{"gr\\\\u0":1.10,"gr\\u00f6":"{\\"[,:"}')).toBe(
    '{\n  "gr\\\\u0": 1.10,\n  "gr\\u00f6": "{\\"[,:"\n}',
  );
});

test.for(['', 'nope', '{"a":', '{"a" 1}', `${'['.repeat(2_000)}${']'.repeat(2_000)}`])(
  'a text that is not JSON, or would become too long, is not changed: %s',
  (text) => {
    expect(prettyJson(text)).toBeNull();
  },
);
