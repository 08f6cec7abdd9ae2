/** How a client is set up, and checked at once: a mistake here should not wait for the first call. */
import type { Fetch } from './exchange.ts';
import { RETRIES_DEFAULT, RETRIES_MAX } from './retry.ts';

export interface SchedOptions {
  /** Where the service is, such as `https://sched.example.com`; a path in front of `/v1` may follow. */
  readonly url: string;
  /** `sk_test_…` or `sk_live_…`. */
  readonly apiKey: string;
  /** Instead of the runtime's own. */
  readonly fetch?: Fetch | undefined;
  /** For one attempt, the answer's body included. 30 s when left out. */
  readonly timeoutMs?: number | undefined;
  /** AttemptRunner after the first, 0 to 10. 3 when left out. */
  readonly retries?: number | undefined;
  /** Interface version `YYYY-MM-DD`; the project's own when left out. */
  readonly version?: string | undefined;
}

export interface CallOptions {
  /** Ends the call at once, wherever it is; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** For one attempt of this call. */
  readonly timeoutMs?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** A fresh one when left out. The same key within 24 hours takes effect once, also across restarts of yours. */
  readonly idempotencyKey?: string | undefined;
}

export interface Settings {
  /** Without a slash at the end. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly retries: number;
}

const TIMEOUT_MS_DEFAULT = 30_000;
/** The longest that a timer can wait, in every runtime. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

const VISIBLE = /^[\x21-\x7e]+$/;
const VISIBLE_WITH_SPACES_INSIDE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export function readOptions(options: SchedOptions): Settings {
  const { apiKey, version, retries = RETRIES_DEFAULT, timeoutMs = TIMEOUT_MS_DEFAULT } = options;
  // The key itself is never quoted, and one that is no header value would be quoted by fetch.
  if (typeof apiKey !== 'string' || !VISIBLE.test(apiKey)) {
    throw new TypeError('apiKey must be an API key: visible characters, with no white space around them.');
  }
  if (version !== undefined && !DATE.test(version)) {
    throw new TypeError('version must be a date in the form YYYY-MM-DD.');
  }
  if (!Number.isInteger(retries) || retries < 0 || retries > RETRIES_MAX) {
    throw new TypeError(`retries must be a whole number from 0 to ${RETRIES_MAX}.`);
  }
  return {
    base: parseBaseUrl(options.url),
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${apiKey}`,
      ...(version !== undefined && { 'sched-version': version }),
    },
    // Looked up at each call: tools that stand in for the network put theirs in its place.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeoutMs: checkTimeout(timeoutMs),
    retries,
  };
}

export function checkTimeout(timeoutMs: number): number {
  if (timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX) return timeoutMs;
  throw new TypeError(`timeoutMs must be above 0 and at most ${TIMEOUT_MS_MAX}.`);
}

/** An empty one would count as none, and a repeated call would take effect twice. */
export function checkIdempotencyKey(key: string): string {
  if (VISIBLE_WITH_SPACES_INSIDE.test(key)) return key;
  throw new TypeError('idempotencyKey must be visible ASCII characters, with no white space around them.');
}

/** A url is not quoted either: it might have a password in it. */
function parseBaseUrl(url: string): string {
  if (!URL.canParse(url)) throw new TypeError('url must be an address such as https://sched.example.com.');
  const { protocol, username, password, search, hash, origin, pathname } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new TypeError('url must begin with https:// or http://.');
  if (username !== '' || password !== '')
    throw new TypeError('url must have no user name or password in it.');
  if (search !== '' || hash !== '') throw new TypeError('url must have neither a query nor a fragment.');
  const path = pathname.replace(/\/+$/, '');
  if (path.endsWith('/v1')) throw new TypeError('url is the address of the service, without /v1.');
  return origin + path;
}
