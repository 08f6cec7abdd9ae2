/** What the SDK says of the interface is what the service says. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '#sdk/index.ts';
import { ERRORS } from '#src/domain/errors.ts';
import { type ApiDocument, sdkTypes } from '../../scripts/sdk-types.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('its types are those of docs/openapi.json; `npm run sdk:types` writes them', () => {
  const document = JSON.parse(read('docs/openapi.json')) as ApiDocument;
  expect(read('sdk/src/api-types.ts')).toBe(sdkTypes(document));
});

test('its codes are those of the table of errors', () => {
  expect([...ERROR_CODES].sort()).toEqual(Object.keys(ERRORS).sort());
});

test('what the types cannot say is an error, not a guess', () => {
  const withSchema = (schema: object) =>
    ({ components: { schemas: { Thing: schema } }, paths: {} }) as ApiDocument;
  const object = (field: object) => withSchema({ type: 'object', properties: { field } });
  for (const unknown of [{}, { oneOf: [] }, { type: 'thing' }, { type: 'array' }, { const: 1 }]) {
    expect(() => sdkTypes(object(unknown))).toThrow();
  }
});
