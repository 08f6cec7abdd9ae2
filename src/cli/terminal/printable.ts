/**
 * What may reach a terminal. Labels, URLs, errors and files are written by others, and a terminal obeys what it
 * is shown: an escape sequence can move the cursor, set the title or answer as if typed. So every text that is
 * not our own goes through here, where it becomes one line without a character that does anything.
 */

const CONTROLS = /\p{Cc}/gu;
/** They turn the order of what is read around. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const WHITE = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** Valid in JSON as they are, which escapes C0 alone. */
const UNESCAPED_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Without a control character, in one line. */
export function printable(text: string): string {
  return text.replace(WHITE, ' ').replace(CONTROLS, '').replace(BIDI_CONTROLS, '');
}

/** The same value in one line, with every control character as its escape. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(UNESCAPED_IN_JSON, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
