/** The options of a client. They are checked at once, so that a mistake does not wait for the first call. */
import type { Fetch } from './exchange.ts';
import { RETRIES_DEFAULT, RETRIES_MAX } from './retry.ts';

export interface SchedOptions {
  /** The address of the service, such as `https://sched.example.com`. It may have a path, which `/v1` is added to. */
  readonly url: string;
  /** An API key: `sk_test_…` or `sk_live_…`. */
  readonly apiKey: string;
  /** A replacement for the `fetch` of the runtime. */
  readonly fetch?: Fetch | undefined;
  /** The timeout of one attempt, including the body of the answer. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** The number of attempts after the first, from 0 to 10. Default: 3. */
  readonly retries?: number | undefined;
  /** The API version, `YYYY-MM-DD`. Default: the version of the project. */
  readonly version?: string | undefined;
}

export interface CallOptions {
  /** Aborts the call at any time. The call then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** The timeout of one attempt of this call. Default: the `timeoutMs` of the client. */
  readonly timeoutMs?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /**
   * Calls with the same key within 24 hours take effect once, even after a restart of your program. Default: a new key
   * for each call.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface Settings {
  /** The address without a final slash. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly retries: number;
}

const TIMEOUT_MS_DEFAULT = 30_000;
/** The longest time that a timer supports, in every runtime. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

const VISIBLE = /^[\x21-\x7e]+$/;
const VISIBLE_WITH_SPACES_INSIDE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export function readOptions(options: SchedOptions): Settings {
  const { apiKey, version, retries = RETRIES_DEFAULT, timeoutMs = TIMEOUT_MS_DEFAULT } = options;
  // The key must never appear in an error. Fetch would quote a key that is not a valid header value.
  if (typeof apiKey !== 'string' || !VISIBLE.test(apiKey)) {
    throw new TypeError('apiKey must be an API key: visible characters without white space.');
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
    // Looked up at each call, because test tools replace the global `fetch`.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeoutMs: checkTimeout(timeoutMs),
    retries,
  };
}

export function checkTimeout(timeoutMs: number): number {
  if (timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX) return timeoutMs;
  throw new TypeError(`timeoutMs must be above 0 and at most ${TIMEOUT_MS_MAX}.`);
}

/** The service treats an empty key as no key, and a repeated call would take effect twice. */
export function checkIdempotencyKey(key: string): string {
  if (VISIBLE_WITH_SPACES_INSIDE.test(key)) return key;
  throw new TypeError('idempotencyKey must be visible ASCII characters, without white space at either end.');
}

/** Errors do not quote the url, because it may contain a password. */
function parseBaseUrl(url: string): string {
  if (!URL.canParse(url)) throw new TypeError('url must be an address such as https://sched.example.com.');
  const { protocol, username, password, search, hash, origin, pathname } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new TypeError('url must start with https:// or http://.');
  if (username !== '' || password !== '')
    throw new TypeError('url must not contain a user name or password.');
  if (search !== '' || hash !== '') throw new TypeError('url must not have a query or a fragment.');
  const path = pathname.replace(/\/+$/, '');
  if (path.endsWith('/v1')) throw new TypeError('url must be the address of the service, without /v1.');
  return origin + path;
}
