/**
 * A request as it was captured: `POST /hook HTTP/1.1`, which may be missing, headers, an empty line, the body. It
 * may stand in from the left, as in a mail or a page, or behind `> `, as `curl -v` shows it; and what HTTP/2 has
 * for a request line, `:method: POST` and `:path: /hook`, is taken for one.
 */
import { wrongUsage } from '#src/cli/failure.ts';

export interface CapturedRequest {
  readonly method: string | null;
  /** With its query, or a whole URL. */
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
  if (headerLines.length === 0) throw wrongUsage('There are no headers in what was given.');
  return {
    method: method ?? pseudo.get('method') ?? null,
    target: target ?? pseudo.get('path') ?? null,
    headers: headersOf(headerLines),
    body,
  };
}

export function headersOf(lines: readonly string[]): CapturedRequest['headers'] {
  if (lines.length > HEADERS_MAX) throw wrongUsage(`There are more than ${HEADERS_MAX} headers.`);
  const headers = new Map<string, readonly string[]>();
  for (const line of lines) {
    const [, name, value = ''] = HEADER_LINE.exec(line) ?? [];
    // Not quoted whole: it may be a body, or hold a secret.
    if (name === undefined)
      throw wrongUsage(`Not a header of the form "Name: value": ${JSON.stringify(line.slice(0, 30))}.`);
    const key = name.toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), value.trim()]);
  }
  return Object.fromEntries(headers);
}

/** The lines before the first empty one, and the exact bytes after it. */
function splitHead(bytes: Uint8Array): { readonly lines: readonly string[]; readonly body: Uint8Array } {
  const lines: string[] = [];
  let margin: string | null = null;
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf(LINE_FEED, at);
    const line = Buffer.from(bytes.subarray(at, end < 0 ? bytes.length : end)).toString('latin1');
    at = end < 0 ? bytes.length : end + 1;
    if (line.trim() !== '') margin ??= LINE_PREFIX.exec(line)?.[0] ?? '';
    const text = stripPrefix(line.replace(/\r$/, ''), margin ?? '');
    if (text === '' && lines.length > 0) break;
    // Empty lines in front of it come from pasting.
    if (text.trim() !== '') lines.push(text);
  }
  return { lines, body: stripBodyPrefix(bytes.subarray(at), margin ?? '') };
}

function stripPrefix(line: string, margin: string): string {
  if (line.startsWith(margin)) return line.slice(margin.length);
  return line === margin.trimEnd() ? '' : line;
}

/** Unless each of its lines has the margin, it was put there as it is. */
function stripBodyPrefix(body: Uint8Array, margin: string): Uint8Array {
  if (margin === '' || body.length === 0) return body;
  const lines = Buffer.from(body).toString('latin1').split('\n');
  const hasMargin = lines.every((line) => line.trim() === '' || line.startsWith(margin));
  if (!hasMargin) return body;
  return Buffer.from(lines.map((line) => stripPrefix(line, margin)).join('\n'), 'latin1');
}
