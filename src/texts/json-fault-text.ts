/** Says why a request body is not a JSON object. The body itself is never repeated. */
import { counted, typeNamed } from './quote.ts';

const EXAMPLE = '{"delay": "5m"}';

export const NOT_UTF8_TEXT = 'The request body is not valid UTF-8. Send JSON as UTF-8.';
export const EMPTY_BODY_TEXT = `The request body is empty. Send a JSON object such as ${EXAMPLE}.`;

export const TOO_MANY_MEMBERS_TEXT =
  'The request body has too many fields, or is nested too deeply. Send only fields of the API.';

export function notAnObjectText(value: unknown): string {
  return `The request body must be a JSON object such as ${EXAMPLE}, not ${typeNamed(value)}.`;
}

/** A position further on is given as a number of characters, because lines are counted one by one. */
const LINES_COUNTED_MAX = 16_384;

/** `position` is the first character that JSON does not allow. */
export function jsonSyntaxText(text: string, position: number, subject = 'The request body'): string {
  return `${subject} is not valid JSON ${placeOf(text, position)}: ${reasonAt(text, position)}.`;
}

function placeOf(text: string, position: number): string {
  if (position > LINES_COUNTED_MAX) return `at character ${counted(position + 1)}`;
  const lines = text.slice(0, position).split('\n');
  return `at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** Only this much before the position is looked at. */
const BEFORE_CHARACTERS_MAX = 200;

function reasonAt(text: string, position: number): string {
  if (position >= text.length) return 'it ends too early';
  const until = text.slice(Math.max(0, position - BEFORE_CHARACTERS_MAX), position);
  const before = until.trimEnd();
  const next = text.charAt(position);
  if (before === '' && position <= until.length) return `it must begin with {, such as ${EXAMPLE}`;
  if (next === "'") return 'strings need double quotes';
  if (next === '/') return 'JSON has no comments';
  if ((next === '}' || next === ']') && before.endsWith(',')) return 'the last comma is one too many';
  if (next === '"') return quoteReason(until);
  if (/[{,]$/.test(before)) return 'names and strings need double quotes';
  if (/[:[\d]$/.test(before)) return `a text needs double quotes, such as ${EXAMPLE}`;
  return 'a comma, a colon or a bracket is missing';
}

/** A quote is at fault if it begins a string too early, or if it ends a string that JSON cannot have. */
function quoteReason(until: string): string {
  const isEndOfString = /[{[,:]\s*$/.test(until.slice(0, Math.max(0, until.lastIndexOf('"'))));
  if (!isEndOfString) return 'a comma or a colon is missing before it';
  return 'this string has a line break or a backslash that must be escaped, such as \\n or \\\\';
}
