/**
 * Writes a JSON value as other JSON writers do, with and without a final line break.
 *
 * The text may come from an attacker. On one line it keeps about its length. Indented, a text with deep and wide
 * nesting grows without limit: 64 KB become gigabytes. The length is therefore computed first, and a variant that
 * would be too long is skipped.
 */
import { readJson } from '../json/read-json.ts';

export type Variant = readonly [matched: string, text: string];

/** No honest body is nested deeper than this. */
const DEPTH_MAX = 32;
/** The longest variant, as a multiple of the body that arrived. */
const GROWTH_MAX = 4;
/** A short body may grow by a larger factor, because it consists mostly of brackets. */
const INDENTED_CHARACTERS_MIN = 4_096;

const COMMA_OR_COLON = /"(?:[^"\\]|\\.)*"|[,:]/g;
/** Strings and empty containers match as a whole, because writers put no line breaks into them. */
const STRUCTURE = /"(?:[^"\\]|\\.)*"|\[\s*\]|\{\s*\}|[,:[\]{}]/g;

/** The numbers that determine the length of an indented text. */
interface Layout {
  readonly colons: number;
  readonly lines: number;
  /** The sum of the indentation levels of all lines. */
  readonly levels: number;
}

export function* jsonVariants(text: string, bodyBytes: number): Generator<Variant> {
  const value = parse(text);
  const layout = value === undefined ? null : layoutOf(text);
  if (layout === null) return;
  const compact = JSON.stringify(value);
  const indentedMax = Math.max(GROWTH_MAX * bodyBytes, INDENTED_CHARACTERS_MIN);
  const indented = (indent: string) => {
    const { colons, lines, levels } = layout;
    const length = compact.length + colons + lines + levels * indent.length;
    return length > indentedMax ? null : JSON.stringify(value, null, indent);
  };
  const writers: readonly (readonly [matched: string, write: () => string | null])[] = [
    ['the body as compact JSON', () => compact],
    ['the body as JSON indented by two spaces', () => indented('  ')],
    ['the body as JSON indented by four spaces', () => indented('    ')],
    ['the body as JSON indented by tabs', () => indented('\t')],
    ['the body as JSON with spaces after commas and colons', () => addSpaces(compact)],
    ['the body as JSON with spaces, and escapes beyond ASCII', () => escapeNonAscii(addSpaces(compact))],
    ['the body as compact JSON with escapes beyond ASCII', () => escapeNonAscii(compact)],
    ['the body as JSON with escaped slashes', () => escapeNonAscii(compact).replaceAll('/', '\\/')],
  ];
  for (const [matched, write] of writers) {
    const json = write();
    if (json === null) continue;
    yield [matched, json];
    yield [`${matched} and a line break at its end`, `${json}\n`];
  }
}

function parse(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

/** The text must be JSON. Returns null if it is nested too deep. */
function layoutOf(json: string): Layout | null {
  let depth = 0;
  let colons = 0;
  let lines = 0;
  let levels = 0;
  for (const [token] of json.matchAll(STRUCTURE)) {
    if (token === ':') colons++;
    if (token === '[' || token === '{') depth++;
    if (token === ']' || token === '}') depth--;
    if (depth > DEPTH_MAX) return null;
    if (token !== ':' && token.length === 1) {
      lines++;
      levels += depth;
    }
  }
  return { colons, lines, levels };
}

function addSpaces(compact: string): string {
  return compact.replace(COMMA_OR_COLON, (token) => (token.length === 1 ? `${token} ` : token));
}

function escapeNonAscii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
