import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { openApiDocument } from './openapi.ts';
import { OPERATIONS } from './operations.ts';

const document = openApiDocument();

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
  });

  test('equals docs/openapi.json, which `npm run openapi` writes', () => {
    const written = readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8');
    expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('has every operation', () => {
    const described = Object.values(document.paths ?? {}).flatMap((item) =>
      Object.values(item as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
    );
    expect(described.sort()).toEqual(Object.keys(OPERATIONS).sort());
  });

  test('has a target for every reference', () => {
    const names = new Set(Object.keys(document.components?.schemas ?? {}));
    const references = [...JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g)];
    expect(references.length).toBeGreaterThan(0);
    for (const [, name] of references) expect(names).toContain(name);
  });
});
