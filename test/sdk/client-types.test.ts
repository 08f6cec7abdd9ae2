/** The SDK and the service describe the same API. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '#sdk/index.ts';
import { ERRORS } from '#src/domain/errors.ts';
import { type ApiDocument, sdkTypes } from '../../scripts/write-sdk-types.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the types match docs/openapi.json (`npm run sdk:types` writes them)', () => {
  const document = JSON.parse(read('docs/openapi.json')) as ApiDocument;
  expect(read('sdk/src/api-types.ts')).toBe(sdkTypes(document));
});

test('the error codes match the table of errors', () => {
  expect([...ERROR_CODES].sort()).toEqual(Object.keys(ERRORS).sort());
});

test('a schema that cannot be expressed as a type is an error', () => {
  const withSchema = (schema: object) =>
    ({ components: { schemas: { Thing: schema } }, paths: {} }) as ApiDocument;
  const object = (field: object) => withSchema({ type: 'object', properties: { field } });
  for (const unknown of [{}, { oneOf: [] }, { type: 'thing' }, { type: 'array' }, { const: 1 }]) {
    expect(() => sdkTypes(object(unknown))).toThrow();
  }
});
