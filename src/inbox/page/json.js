/** JSON with a line for every value, for people to read. */

/** As much as a body may have as it came: a browser takes its time to lay out more. */
const CHARACTERS_MAX = 1_048_576;
const INDENT = 2;
/** A string, a mark, or anything else that stands between marks and blanks. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/** Everything as it was written, on lines of its own; null for what is no JSON, or would become too long. */
export function prettyJson(text) {
  if (prettyLength(text) > CHARACTERS_MAX) return null;
  try {
    // Only whether it is JSON: the runtime may take one key for another (nodejs/node#63785).
    JSON.parse(text);
  } catch {
    return null;
  }
  const parts = [];
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
 * How long it becomes, at most: every opening, closing and separating mark is followed or led by a new line with
 * its indent. Deep nesting makes a short text a very long one, so this is known before it is made.
 */
function prettyLength(text) {
  let length = text.length;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length && length <= CHARACTERS_MAX; at++) {
    const mark = text[at];
    if (isInString && mark === '\\') at += 1;
    else if (mark === '"') isInString = !isInString;
    else if (!isInString && '[{,]}'.includes(mark)) {
      if (mark === '[' || mark === '{') depth += 1;
      if (mark === ']' || mark === '}') depth -= 1;
      length += 1 + INDENT * depth;
    } else if (!isInString && mark === ':') length += 1;
  }
  return length;
}
