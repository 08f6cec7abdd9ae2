/**
 * Brings a received request into one form, from the forms of all runtimes and frameworks.
 *
 * The path is cut out of the URL as text, and is never decoded or normalised: `%2F` and `/` are signed as different
 * paths. If a proxy or a mounted router rewrites the path, the option `path` gives the path that Sched signed.
 */
import { BODY_BYTES_MAX, readStream } from './read-body.ts';
import { type NotMatching, refused } from './result.ts';

/** The headers of a request, as `Headers` or as an object. */
export type ReceivedHeaders =
  | Pick<Headers, 'get'>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request, for runtimes without the `Request` of Fetch. */
export interface ReceivedRequest {
  readonly method: string;
  /** The whole URL, or the path with its query: `/hooks/reminder?tenant=1`. */
  readonly url: string;
  readonly headers: ReceivedHeaders;
  /** The raw bytes, or their text. It must not be the result of a parser. */
  readonly body: string | Uint8Array | ArrayBuffer | null;
}

/** The path that Sched signed, or a function that derives it from the path that arrived. */
export type PathOption = string | ((path: string) => string);

export interface NormalizedRequest {
  readonly method: string;
  readonly path: string;
  /** The query with its question mark, or an empty text. */
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
  const { path: receivedPath, query } = splitUrl(request.url);
  return {
    method: request.method.toUpperCase(),
    path: signedPath(receivedPath, path),
    query,
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

/** Ignores the case of names. Values of a repeated header are joined, as in HTTP. */
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

/** Reads a clone, so that the caller can still read the request. */
async function bytesOfRequest(request: Request): Promise<Uint8Array | NotMatching> {
  if (request.bodyUsed) {
    return refused(
      'body_consumed',
      'The body of this request was read before. Verify the request first, or pass the raw body yourself.',
    );
  }
  const body = await readStream(request.clone().body, BODY_BYTES_MAX);
  return body === 'too_large' ? tooLarge() : body;
}

/** JavaScript callers may pass a value of any type. */
function bytesOf(body: unknown): Uint8Array | NotMatching {
  if (body === null || body === undefined) return new Uint8Array();
  if (typeof body === 'string') return encoder.encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  return refused(
    'body_parsed',
    'The body is a parsed value, but the signature is over the raw bytes. Pass the bytes from before any parser, as ' +
      'a string, Uint8Array or ArrayBuffer.',
  );
}

function tooLarge(): NotMatching {
  return refused(
    'body_too_large',
    `The body has more than ${BODY_BYTES_MAX} bytes. Sched does not send such a body.`,
  );
}
