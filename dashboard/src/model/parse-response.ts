/**
 * Reads an answer of the service. `JSON.parse` of some browsers can take an object key that is written with an escape
 * for another key that it has met before (nodejs/node#63785), and customers choose the keys of their labels. So the keys
 * of a text with escapes are numbered while it is read. The SDK's reader does the same for much more code.
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
