/**
 * A request as it arrived, from any of the forms in which runtimes and frameworks hand it over.
 *
 * The path is cut out of the URL as text, never decoded or normalised: `%2F` and `/` are signed as different
 * paths. Where something between Sched and the receiver rewrites it (a proxy, a mounted router that strips its
 * prefix), the option `path` says what Sched was told.
 */
import { BODY_BYTES_MAX, readStream } from './read-body.ts';
import { type NotMatching, refused } from './result.ts';

export type ReceivedHeaders =
  | Pick<Headers, 'get'>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface ReceivedRequest {
  readonly method: string;
  /** The whole URL, or the path with its query: `/hooks/reminder?tenant=1`. */
  readonly url: string;
  readonly headers: ReceivedHeaders;
  /** The raw bytes as they arrived, or their text; never what a parser made of them. */
  readonly body: string | Uint8Array | ArrayBuffer | null;
}

/** The path that Sched was told, or how to get it from the one that arrived. */
export type PathOption = string | ((path: string) => string);

export interface NormalizedRequest {
  readonly method: string;
  readonly path: string;
  /** With the question mark; empty where there is none. */
  readonly query: string;
  readonly header: (name: string) => string | null;
  readonly body: Uint8Array;
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;
const encoder = new TextEncoder();

export async function normalizeRequest(
  request: ReceivedRequest | Request,
  path: PathOption | undefined,
): Promise<NormalizedRequest | NotMatching> {
  const body = isFetchRequest(request) ? await bytesOfRequest(request) : bytesOf(request.body);
  if (!(body instanceof Uint8Array)) return body;
  if (body.length > BODY_BYTES_MAX) return tooLarge();
  const { headers } = request;
  const arrived = splitUrl(request.url);
  return {
    method: request.method.toUpperCase(),
    path: signedPath(arrived.path, path),
    query: arrived.query,
    header: (name) => headerOf(headers, name),
    body,
  };
}

export function splitUrl(url: string): { readonly path: string; readonly query: string } {
  const [target = ''] = url.replace(ORIGIN, '').split('#', 1);
  const at = target.indexOf('?');
  const path = at < 0 ? target : target.slice(0, at);
  return { path: path === '' ? '/' : path, query: at < 0 ? '' : target.slice(at) };
}

function signedPath(path: string, option: PathOption | undefined): string {
  if (option === undefined) return path;
  return typeof option === 'string' ? option : option(path);
}

/** Names are compared without regard to case; what was sent several times is joined, as in HTTP. */
function headerOf(headers: ReceivedHeaders, name: string): string | null {
  if (isHeaders(headers)) return headers.get(name);
  const wanted = name.toLowerCase();
  const values = Object.entries(headers).flatMap(([each, value]) =>
    each.toLowerCase() === wanted ? (value ?? []) : [],
  );
  return values.length === 0 ? null : values.join(', ');
}

function isHeaders(headers: ReceivedHeaders): headers is Pick<Headers, 'get'> {
  return typeof headers.get === 'function';
}

function isFetchRequest(request: ReceivedRequest | Request): request is Request {
  return 'bodyUsed' in request;
}

/** Reads a copy: whoever asked can still read the request. */
async function bytesOfRequest(request: Request): Promise<Uint8Array | NotMatching> {
  if (request.bodyUsed) {
    return refused(
      'body_consumed',
      'The body of this request has been read before. Verify it first, or pass the raw body yourself.',
    );
  }
  const body = await readStream(request.clone().body, BODY_BYTES_MAX);
  return body === 'too_large' ? tooLarge() : body;
}

/** From JavaScript anything may come. */
function bytesOf(body: unknown): Uint8Array | NotMatching {
  if (body === null || body === undefined) return new Uint8Array();
  if (typeof body === 'string') return encoder.encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  return refused(
    'body_parsed',
    'The body was given as a parsed value. The signature is over the raw bytes: pass those, as a string, ' +
      'Uint8Array or ArrayBuffer, from before any parser.',
  );
}

function tooLarge(): NotMatching {
  return refused(
    'body_too_large',
    `The body has more than ${BODY_BYTES_MAX} bytes: Sched sends no such body.`,
  );
}
