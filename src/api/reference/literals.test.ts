import { expect, test } from 'vitest';
import { asJson, asPython, asTypeScript } from './literals.ts';

const VALUE = {
  url: "https://example.com/it's",
  'X-Tenant': 'say "hi"',
  on: true,
  none: null,
  list: [1, 2],
  body: '{"hello":"world"}',
};

test('JSON stays JSON', () => {
  expect(JSON.parse(asJson(VALUE))).toEqual(VALUE);
});

test('TypeScript has single quotes and names without quotes where it can', () => {
  expect(asTypeScript(VALUE)).toBe(`{
  url: "https://example.com/it's",
  'X-Tenant': 'say "hi"',
  on: true,
  none: null,
  list: [1, 2],
  body: '{"hello":"world"}',
}`);
});

test('Python has its own words, and writes a JSON text as a value', () => {
  expect(asPython(VALUE)).toBe(`{
    "url": "https://example.com/it's",
    "X-Tenant": "say \\"hi\\"",
    "on": True,
    "none": None,
    "list": [1, 2],
    "body": json.dumps({"hello": "world"}),
}`);
});

test('a text that only begins like JSON stays a text', () => {
  expect(asPython('{not json')).toBe('"{not json"');
});

test('a long value takes several lines', () => {
  expect(asTypeScript({ metadata: { team: 'x'.repeat(80) } })).toBe(
    `{\n  metadata: {\n    team: '${'x'.repeat(80)}',\n  },\n}`,
  );
});
