/**
 * Finds the fields of a body that have no effect. A strict request is refused because of them (`unknown-field.ts`).
 * Any other request is answered, and a header of the answer names them. A request that reads has no body: the header
 * names the parameters of its query instead, and it is never refused. Names come from outside, so every text that is
 * made of them has a bound and contains only characters that its place can carry.
 */
import { type KnownFields, knownFields, NO_FIELDS } from './contract/bodies.ts';
import { OPERATION_DOCS } from './contract/operation-docs.ts';
import { OPERATIONS, type Operation, type OperationId } from './contract/operations.ts';
import { isLabelFilter } from './query.ts';
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

/** The filter by label. Its name is followed by the label in brackets. */
const LABELS = 'metadata';

const PARAMETERS: ReadonlyMap<Operation, ReadonlySet<string>> = new Map(
  (Object.keys(OPERATIONS) as OperationId[]).map((id) => [
    OPERATIONS[id],
    new Set(Object.keys(OPERATION_DOCS[id].query?.shape ?? {})),
  ]),
);
const NO_PARAMETERS: ReadonlySet<string> = new Set();

/** Returns the first ignored parameters in the order of the query. One without a value is ignored too. */
export function findIgnoredParameters(operation: Operation, search: string): readonly FieldPath[] {
  if (search === '') return [];
  const known = PARAMETERS.get(operation) ?? NO_PARAMETERS;
  const seen = new Set<string>();
  const found: FieldPath[] = [];
  for (const [name, value] of new URLSearchParams(search)) {
    // The first of repeated names counts.
    if (seen.has(name)) continue;
    seen.add(name);
    const isKnown = isLabelFilter(name) ? known.has(LABELS) : name !== LABELS && known.has(name);
    if (isKnown && value !== '') continue;
    found.push([name]);
    if (found.length === IGNORED_FIELDS_MAX) break;
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
