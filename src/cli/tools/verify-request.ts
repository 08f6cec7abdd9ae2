/**
 * Parses a captured request: an optional request line such as `POST /hook HTTP/1.1`, headers, an empty line, and the
 * body. All lines may be indented, as in a mail, or start with `> `, as `curl -v` prints them. The pseudo-headers of
 * HTTP/2, `:method: POST` and `:path: /hook`, count as a request line.
 */
import { wrongUsage } from '#src/cli/failure.ts';

export interface CapturedRequest {
  readonly method: string | null;
  /** The path with its query, or a whole URL. */
  readonly target: string | null;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Uint8Array;
}

const REQUEST_LINE = /^([A-Za-z]{1,20}) (\S+)(?: HTTP\/[0-9.]+)?$/;
const PSEUDO_HEADER_LINE = /^:(method|path|authority|scheme):[ \t]*(.*?)[ \t]*$/;
const LINE_PREFIX = /^[ \t]*(?:> )?/;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;
const HEADERS_MAX = 500;
const LINE_FEED = 0x0a;

export function parseCaptured(bytes: Uint8Array): CapturedRequest {
  const { lines, body } = splitHead(bytes);
  const [, method = null, target = null] = REQUEST_LINE.exec(lines[0] ?? '') ?? [];
  const pseudo = new Map(
    lines.flatMap((line): [string, string][] => {
      const [, name, value = ''] = PSEUDO_HEADER_LINE.exec(line) ?? [];
      return name === undefined ? [] : [[name, value]];
    }),
  );
  const headerLines = lines.slice(method === null ? 0 : 1).filter((line) => !PSEUDO_HEADER_LINE.test(line));
  if (headerLines.length === 0) throw wrongUsage('The captured request has no headers.');
  return {
    method: method ?? pseudo.get('method') ?? null,
    target: target ?? pseudo.get('path') ?? null,
    headers: headersOf(headerLines),
    body,
  };
}

export function headersOf(lines: readonly string[]): CapturedRequest['headers'] {
  if (lines.length > HEADERS_MAX)
    throw wrongUsage(`The captured request has more than ${HEADERS_MAX} headers.`);
  const headers = new Map<string, readonly string[]>();
  for (const line of lines) {
    const [, name, value = ''] = HEADER_LINE.exec(line) ?? [];
    // The line is not quoted as a whole: it may be a body, or hold a secret.
    if (name === undefined)
      throw wrongUsage(
        `This is not a header of the form "Name: value": ${JSON.stringify(line.slice(0, 30))}.`,
      );
    const key = name.toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), value.trim()]);
  }
  return Object.fromEntries(headers);
}

/** Returns the lines before the first empty line, and the exact bytes after it. */
function splitHead(bytes: Uint8Array): { readonly lines: readonly string[]; readonly body: Uint8Array } {
  const lines: string[] = [];
  let prefix: string | null = null;
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf(LINE_FEED, at);
    const line = Buffer.from(bytes.subarray(at, end < 0 ? bytes.length : end)).toString('latin1');
    at = end < 0 ? bytes.length : end + 1;
    if (line.trim() !== '') prefix ??= LINE_PREFIX.exec(line)?.[0] ?? '';
    const text = stripPrefix(line.replace(/\r$/, ''), prefix ?? '');
    if (text === '' && lines.length > 0) break;
    // Pasting may add empty lines at the start.
    if (text.trim() !== '') lines.push(text);
  }
  return { lines, body: stripBodyPrefix(bytes.subarray(at), prefix ?? '') };
}

function stripPrefix(line: string, prefix: string): string {
  if (line.startsWith(prefix)) return line.slice(prefix.length);
  return line === prefix.trimEnd() ? '' : line;
}

/** If any line of the body lacks the prefix, the body was captured without it and is kept as it is. */
function stripBodyPrefix(body: Uint8Array, prefix: string): Uint8Array {
  if (prefix === '' || body.length === 0) return body;
  const lines = Buffer.from(body).toString('latin1').split('\n');
  const hasPrefix = lines.every((line) => line.trim() === '' || line.startsWith(prefix));
  if (!hasPrefix) return body;
  return Buffer.from(lines.map((line) => stripPrefix(line, prefix)).join('\n'), 'latin1');
}
