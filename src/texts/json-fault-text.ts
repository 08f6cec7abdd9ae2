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

function reasonAt(text: string, position: number): string {
  if (position >= text.length) return 'it ends too early';
  const before = text.slice(Math.max(0, position - 100), position).trimEnd();
  switch (text.charAt(position)) {
    case "'":
      return 'strings need double quotes';
    case '/':
      return 'JSON has no comments';
    case '}':
    case ']':
      return before.endsWith(',') ? 'the last comma is one too many' : 'a value or a bracket is missing';
    default:
      break;
  }
  if (before === '') return `it must begin with {, such as ${EXAMPLE}`;
  if (before.endsWith('{') || before.endsWith(',')) return 'names and strings need double quotes';
  if (before.endsWith(':'))
    return 'a value is a string in double quotes, a number, true, false, null, an object or an array';
  return 'a comma, a colon or a bracket is missing, or a string has an invalid character';
}
