/** Indents JSON, with one line for each value. */

/** The limit of a body too. A browser takes long to lay out more. */
const CHARACTERS_MAX = 1_048_576;
const INDENT = 2;
/** A string, a punctuation character, or a run of other characters. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/** Keeps every value as it was written. Returns null if the text is not JSON or would become too long. */
export function prettyJson(text: string): string | null {
  if (prettyLength(text) > CHARACTERS_MAX) return null;
  try {
    // Checks only that it is JSON: the runtime may confuse two keys (nodejs/node#63785).
    JSON.parse(text);
  } catch {
    return null;
  }
  const parts: string[] = [];
  let depth = 0;
  const newLine = () => parts.push('\n', ' '.repeat(INDENT * depth));
  for (const [token] of text.matchAll(TOKEN)) {
    const before = parts.at(-1);
    const isFirst = before === '{' || before === '[';
    const isClosing = token === '}' || token === ']';
    if (isClosing) depth -= 1;
    if (isClosing ? !isFirst : isFirst || before === ',') newLine();
    parts.push(token);
    if (token === '{' || token === '[') depth += 1;
    if (token === ':') parts.push(' ');
  }
  return parts.join('');
}

/**
 * An upper bound of the length after indenting: each bracket and comma adds a new line with its indent. Deep
 * nesting turns a short text into a very long one, so the length is computed before the text is built.
 */
function prettyLength(text: string): number {
  let length = text.length;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length && length <= CHARACTERS_MAX; at++) {
    const character = text.charAt(at);
    if (isInString && character === '\\') at += 1;
    else if (character === '"') isInString = !isInString;
    else if (!isInString && '[{,]}'.includes(character)) {
      if (character === '[' || character === '{') depth += 1;
      if (character === ']' || character === '}') depth -= 1;
      length += 1 + INDENT * depth;
    } else if (!isInString && character === ':') length += 1;
  }
  return length;
}
