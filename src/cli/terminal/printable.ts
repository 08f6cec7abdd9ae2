/**
 * Makes text from outside safe to print. Metadata, URLs, errors and files are written by others, and a terminal acts
 * on control characters: an escape sequence can move the cursor, set the title or send input. Every such text passes
 * through here and becomes one line without control characters.
 */

const CONTROLS = /\p{Cc}/gu;
/** They change the reading direction of a text. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const WHITE = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** `JSON.stringify` leaves these unescaped: it escapes only the control characters of C0. */
const UNESCAPED_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Returns the text in one line, without control characters. */
export function printable(text: string): string {
  return text.replace(WHITE, ' ').replace(CONTROLS, '').replace(BIDI_CONTROLS, '');
}

const CONTROLS_IN_LINES = /[^\P{Cc}\n]/gu;
const TAB = '    ';

/**
 * Returns a text of several lines, whose control characters are visible, such as \u001b. The lines are indented, so that
 * none of them looks like a line of the command itself.
 */
export function printableLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll('\t', TAB)
    .replace(CONTROLS_IN_LINES, escaped)
    .replace(UNESCAPED_IN_JSON, escaped)
    .replace(/^(?=.)/gm, '  ');
}

/** Returns one line for standard error. */
export function errorLine(text: string): string {
  return `sched: ${printable(joinLines(text))}\n`;
}

export function joinLines(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

/** Returns the value as one line of JSON, with every control character escaped. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(UNESCAPED_IN_JSON, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
