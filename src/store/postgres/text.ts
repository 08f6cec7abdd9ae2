/**
 * Text as PostgreSQL can hold it. It knows neither NUL nor half a surrogate pair, and customers may send both
 * inside JSON: such texts are stored as JSON behind a mark that no other stored text begins with.
 */
const MARK = '\u0001';

export function encodeText(text: string): string {
  return text.includes('\0') || text.startsWith(MARK) || !text.isWellFormed()
    ? MARK + JSON.stringify(text)
    : text;
}

export function decodeText(stored: string): string {
  return stored.startsWith(MARK) ? (JSON.parse(stored.slice(MARK.length)) as string) : stored;
}
