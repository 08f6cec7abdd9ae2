/**
 * A value as other writers of JSON put it, with and without a line break at the end.
 *
 * Anybody can send the text that it comes from. Written on one line it stays about as long; indented, what is
 * nested deep and wide grows without measure: 64 KB become gigabytes. So how long it would be is worked out
 * first, and what would be too long is not written.
 */
import { readJson } from '../json/read-json.ts';

export type Variant = readonly [matched: string, text: string];

/** Deeper than anybody nests by hand. */
const DEPTH_MAX = 32;
/** Times the body that arrived. */
const GROWTH_MAX = 4;
/** A short body may grow by more: it is mostly brackets. */
const INDENTED_CHARACTERS_MIN = 4_096;

const COMMA_OR_COLON = /"(?:[^"\\]|\\.)*"|[,:]/g;
/** Strings are passed over as a whole, and so is what is empty: writers do not break it. */
const STRUCTURE = /"(?:[^"\\]|\\.)*"|\[\s*\]|\{\s*\}|[,:[\]{}]/g;

/** Where an indented text has its line breaks and spaces. */
interface Layout {
  readonly colons: number;
  readonly lines: number;
  /** By how many levels those lines are indented, all together. */
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

/** Of a text that is JSON; null where it is nested too deep. */
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
