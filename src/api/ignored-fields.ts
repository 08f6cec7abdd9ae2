/**
 * Finds the fields of a body that have no effect. A strict request is refused because of them (`unknown-field.ts`).
 * Any other request is answered, and a header of the answer names them. Names come from outside, so every text that is
 * made of them has a bound and contains only characters that its place can carry.
 */
import { type KnownFields, knownFields, NO_FIELDS } from './contract/bodies.ts';
import { OPERATIONS, type Operation } from './contract/operations.ts';
import type { JsonObject } from './read-bodies.ts';

/** The names from the outermost object to the field. */
export type FieldPath = readonly [outer: string, ...inner: readonly string[]];

export const IGNORED_FIELDS_HEADER = 'Sched-Ignored-Fields';
export const IGNORED_FIELDS_MAX = 20;
export const NAME_CHARACTERS_MAX = 100;

const KNOWN: ReadonlyMap<Operation, KnownFields> = new Map(
  Object.values(OPERATIONS).map((operation) => [
    operation,
    operation.body === null ? NO_FIELDS : knownFields(operation.body.schema),
  ]),
);

/** Without a body, an operation knows no field. */
export function fieldsOf(operation: Operation): KnownFields {
  return KNOWN.get(operation) ?? NO_FIELDS;
}

/** Returns the fields of the object at a path. */
export function fieldsAt(known: KnownFields, path: readonly string[]): KnownFields {
  return path.reduce((fields, name) => fields.get(name) ?? NO_FIELDS, known);
}

/** Returns the first ignored fields in the order of the body. */
export function findIgnored(body: JsonObject, known: KnownFields): readonly FieldPath[] {
  const found: FieldPath[] = [];
  for (const name of Object.keys(body)) {
    const inner = known.get(name);
    if (inner === undefined) found.push([name]);
    else if (inner.size > 0) {
      const value = body[name];
      if (isObject(value)) for (const path of findIgnored(value, inner)) found.push([name, ...path]);
    }
    if (found.length >= IGNORED_FIELDS_MAX) return found.slice(0, IGNORED_FIELDS_MAX);
  }
  return found;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The value of the header. A name is percent-encoded as in a URL, so that no name can end the header or look like two
 * names. A dot inside a name is encoded too, because a dot separates the names of a path.
 */
export function ignoredFieldsHeader(paths: readonly FieldPath[]): string {
  return paths.map((path) => boundedEncoding(path)).join(', ');
}

function boundedEncoding(path: FieldPath): string {
  let text = '';
  for (const [depth, name] of path.entries()) {
    if (depth > 0) text += '.';
    if (name === '') text += '""';
    for (const character of name.slice(0, NAME_CHARACTERS_MAX).toWellFormed()) {
      const encoded = character === '.' ? '%2E' : encodeURIComponent(character);
      // An escape is never cut in two.
      if (text.length + encoded.length > NAME_CHARACTERS_MAX) return text;
      text += encoded;
    }
  }
  return text;
}
