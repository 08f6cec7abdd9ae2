/** Brings the generated document into the simplest form that says the same. */
import type { createDocument } from 'zod-openapi';

export type OpenApiDocument = ReturnType<typeof createDocument>;

type Json = Readonly<Record<string, unknown>>;

const OUTPUT_SUFFIX = 'Output';

/**
 * Objects that are used in requests and in answers have two schemas. They are equal without
 * `additionalProperties: false`, and one of them is kept.
 */
export function simplifyDocument(document: OpenApiDocument): OpenApiDocument {
  const text = JSON.stringify(simplify(JSON.parse(JSON.stringify(document))));
  const names = Object.keys(document.components?.schemas ?? {});
  const duplicates = names.filter((name) => names.includes(`${name}${OUTPUT_SUFFIX}`));
  const merged = duplicates.reduce(
    (json, name) => json.replaceAll(`schemas/${name}${OUTPUT_SUFFIX}"`, `schemas/${name}"`),
    text,
  );
  const result = JSON.parse(merged) as OpenApiDocument;
  for (const name of duplicates) delete result.components?.schemas?.[`${name}${OUTPUT_SUFFIX}`];
  return result;
}

function simplify(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplify);
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.entries(value).filter(([name, part]) => !isSuperfluous(name, part));
  const object = Object.fromEntries(
    // An example is data of a customer. It stays as it is.
    parts.map(([name, part]) => [name, name === 'value' || name === 'example' ? part : simplify(part)]),
  );
  return withoutCopies(withExamples(withTypeOfNull(object)));
}

/**
 * Answers may get new fields at any time. Names are always texts, and every integer of JSON has the bounds of a safe
 * integer.
 */
function isSuperfluous(name: string, value: unknown): boolean {
  return (
    (name === 'additionalProperties' && value === false) ||
    name === 'propertyNames' ||
    ((name === 'minimum' || name === 'maximum') && Math.abs(value as number) === Number.MAX_SAFE_INTEGER)
  );
}

/** Says "a text or null" with one type list. An object with a name stays an alternative. */
function withTypeOfNull(object: Json): Json {
  const { anyOf, ...rest } = object;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return object;
  const [schema, none] = anyOf as [Json, Json];
  if (none.type !== 'null' || typeof schema.type !== 'string') return object;
  const { type, enum: values, const: only } = schema;
  if (only !== undefined) return object;
  return {
    ...schema,
    ...rest,
    type: [type, 'null'],
    ...(Array.isArray(values) && { enum: [...values, null] }),
  };
}

/** In OpenAPI 3.1 a schema has a list of examples, as in JSON Schema. */
function withExamples(object: Json): Json {
  if (!('example' in object)) return object;
  const { example, ...rest } = object;
  return { ...rest, examples: [example] };
}

/** A parameter or header that has a description says it once, and not again in its schema. */
function withoutCopies(object: Json): Json {
  const schema = object.schema as Json | undefined;
  if (object.description === undefined || schema?.description !== object.description) return object;
  const { description: _, ...rest } = schema;
  return { ...object, schema: rest };
}
