/**
 * Parses a response of the service. Some browsers have a bug in `JSON.parse` (nodejs/node#63785): they can take an object
 * key with an escape for another key that they parsed before. Customers choose the keys of their labels. Therefore the
 * keys of a text with escapes are replaced by numbers during parsing. The parser of the SDK has the same purpose, but is
 * much larger.
 */
const STRINGS = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g;

export function parseResponse(text: string): unknown {
  if (!text.includes('\\')) return JSON.parse(text);
  const keys: string[] = [];
  const numbered = text.replace(STRINGS, (all, string: string, colon?: string) =>
    colon === undefined ? all : `"${keys.push(JSON.parse(string) as string) - 1}"${colon}`,
  );
  return JSON.parse(numbered, (_key, value: unknown) =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).map(([number, own]) => [keys[Number(number)], own])),
  );
}
