/**
 * Repeats a part of a customer's value in a message. A message repeats at most 100 characters of a value: up to
 * `VALUE_CHARACTERS_MAX` of the value itself, and up to `HINT_CHARACTERS_MAX` of a correction that was made from it. Only
 * printable characters are repeated, so that a message cannot change the terminal or the page that shows it.
 */

export const VALUE_CHARACTERS_MAX = 60;
export const HINT_CHARACTERS_MAX = 40;

/** Control and format characters, lone surrogates, unassigned characters, and every space except the plain one. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

export function isPrintable(character: string): boolean {
  return !UNPRINTABLE.test(character);
}

/** Returns the text in double quotes, escaped like JSON. A long text is cut between two characters. */
export function quoted(text: string, charactersMax: number = VALUE_CHARACTERS_MAX): string {
  let shown = '';
  for (const character of text.slice(0, 2 * charactersMax)) {
    const next = escaped(character);
    if (shown.length + next.length > charactersMax) return `"${shown}…"`;
    shown += next;
  }
  return text.length > 2 * charactersMax ? `"${shown}…"` : `"${shown}"`;
}

function escaped(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`;
  if (isPrintable(character)) return character;
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Names a JSON value: texts and numbers as they are, everything else by its type. */
export function described(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number')
    return Number.isFinite(value) ? `the number ${value}` : 'a number out of range';
  return typeof value === 'boolean' ? String(value) : typeNamed(value);
}

/** Names only the type, for values that must not be repeated. */
export function typeNamed(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return 'a string';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Joins names as `a, b or c`. */
export function listed(names: readonly string[], word: 'and' | 'or'): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} ${word} ${last}`;
}

/** Writes a whole number with commas: `262,144`. */
export function counted(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}
