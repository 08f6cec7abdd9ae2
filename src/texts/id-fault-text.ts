/** Says why a text is not the id of an object, or that no such object exists. */
import { parseId } from '#src/domain/id.ts';

/** The objects of the API that have an id. */
export type ObjectKind = 'sch' | 'dlv' | 'ep' | 'att';

const OBJECTS: Readonly<Record<ObjectKind, string>> = {
  sch: 'schedule',
  dlv: 'delivery',
  ep: 'endpoint profile',
  att: 'attempt',
};
const KINDS = Object.keys(OBJECTS) as readonly ObjectKind[];
const ID_CHARACTERS = 26;

/** Texts that programs write into a path when they have no id. */
const NOTHING: ReadonlySet<string> = new Set([
  'undefined',
  'null',
  'NaN',
  '[object Object]',
  '{id}',
  ':id',
  '',
]);

/** The message about a text that does not have the form of an id of `kind`. */
export function wrongIdText(text: string, kind: ObjectKind, field: string): string {
  const other = KINDS.find((candidate) => parseId(candidate, text) !== null);
  if (other !== undefined)
    return `${field} "${text}" names another kind of object (${OBJECTS[other]}). The id of every ${OBJECTS[kind]} begins with ${kind}_.`;
  if (NOTHING.has(text))
    return `${field} is "${text}": no id was filled in. Copy the id of the ${OBJECTS[kind]}.`;
  // Other texts are not repeated, because a key in the wrong place is one of them.
  const prefix = text.startsWith(`${kind}_`) ? 'incomplete or changed' : 'not of the right form';
  return `${field} is ${prefix}: the id of every ${OBJECTS[kind]} is ${kind}_ and ${ID_CHARACTERS} lower-case letters and digits. Copy it unchanged.`;
}

/**
 * The message about an id that nothing has. It does not repeat the id, so that an object of another project answers
 * exactly like one that never existed.
 */
export function noObjectText(id: string): string {
  const kind = KINDS.find((candidate) => parseId(candidate, id) !== null);
  const what = kind === undefined ? 'object' : OBJECTS[kind];
  return `No ${what} has this id in this project and mode. A test key sees no live data, and a live key no test data.`;
}

/** The message about an attempt of which no answer is kept. */
export function noResponseText(attemptNo: number): string {
  return `No answer is kept of attempt ${attemptNo}. Sched keeps the beginning of an answer that is not 2xx, if \`response_excerpt\` of the endpoint profile or the operator's setting allows it and the address is public.`;
}
