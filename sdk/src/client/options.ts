/** The options of a client and of a call. A mistake in them is an error before anything is sent. */
import { describeValue, isFields } from '../describe-value.ts';
import { resolveConnection } from './connection.ts';
import { type Environment, processEnvironment } from './environment.ts';
import type { Fetch } from './exchange.ts';
import { checkNames, type NamesOf } from './known-names.ts';
import { RETRIES_DEFAULT, RETRIES_MAX } from './retry.ts';

export interface SchedOptions {
  /**
   * The address of the service, such as `https://sched.example.com`. It may have a path, which `/v1` is added to.
   * Default: the environment variable `SCHED_URL`.
   */
  readonly url?: string | undefined;
  /** An API key: `sk_test_…` or `sk_live_…`. Default: the environment variable `SCHED_API_KEY`. */
  readonly apiKey?: string | undefined;
  /** A replacement for the `fetch` of the runtime. */
  readonly fetch?: Fetch | undefined;
  /** The timeout of one attempt, including the body of the answer. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** The number of attempts after the first, from 0 to 10. Default: 3. */
  readonly retries?: number | undefined;
  /** The API version, `YYYY-MM-DD`. Default: the version of the project. */
  readonly version?: string | undefined;
  /**
   * Whether the service refuses a field that it does not know (`unknown_field`). With `false` it ignores such a field.
   * Default: true.
   */
  readonly strict?: boolean | undefined;
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
  readonly isStrict: boolean;
}

const OPTIONS = {
  url: true,
  apiKey: true,
  fetch: true,
  timeoutMs: true,
  retries: true,
  version: true,
  strict: true,
} as const satisfies NamesOf<SchedOptions>;

const TIMEOUT_MS_DEFAULT = 30_000;
/** The longest time that a timer supports, in every runtime. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

const VISIBLE_WITH_SPACES_INSIDE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export function readOptions(
  options: SchedOptions = {},
  environment: Environment = processEnvironment,
): Settings {
  if (!isFields(options)) {
    throw new TypeError(
      `new Sched takes an object with options: new Sched({ url, apiKey }). It got ${describeValue(options)}.`,
    );
  }
  checkNames('new Sched', 'option', options, Object.keys(OPTIONS));
  const {
    version,
    fetch,
    strict = true,
    retries = RETRIES_DEFAULT,
    timeoutMs = TIMEOUT_MS_DEFAULT,
  } = options;
  const { base, apiKey } = resolveConnection(options, environment);
  if (version !== undefined && !DATE.test(version)) {
    throw new TypeError('version must be a date in the form YYYY-MM-DD.');
  }
  if (!Number.isInteger(retries) || retries < 0 || retries > RETRIES_MAX) {
    throw new TypeError(`retries must be a whole number from 0 to ${RETRIES_MAX}.`);
  }
  if (typeof strict !== 'boolean') throw new TypeError('strict must be true or false.');
  if (fetch !== undefined && typeof fetch !== 'function') throw new TypeError('fetch must be a function.');
  return {
    base,
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${apiKey}`,
      ...(version !== undefined && { 'sched-version': version }),
    },
    // Looked up at each call, because test tools replace the global `fetch`.
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeoutMs: checkTimeout(timeoutMs),
    retries,
    isStrict: strict,
  };
}

/** JavaScript callers may pass null for no options. */
export function checkCallOptions(options: WriteOptions | null | undefined): WriteOptions {
  if (options === undefined || options === null) return {};
  if (!isFields(options)) {
    throw new TypeError(
      `The options of a call are an object, such as { timeoutMs: 5_000 }. It got ${describeValue(options)}.`,
    );
  }
  const { signal } = options;
  if (signal !== undefined && typeof signal?.throwIfAborted !== 'function') {
    throw new TypeError(
      `signal must be an AbortSignal, such as AbortSignal.timeout(2_000) or the signal of an AbortController. It got ${describeValue(signal)}.`,
    );
  }
  return options;
}

export function checkTimeout(timeoutMs: number): number {
  if (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX) return timeoutMs;
  throw new TypeError(`timeoutMs must be a number above 0 and at most ${TIMEOUT_MS_MAX}.`);
}

/** The service treats an empty key as no key, and a repeated call would take effect twice. */
export function checkIdempotencyKey(key: string): string {
  if (typeof key === 'string' && VISIBLE_WITH_SPACES_INSIDE.test(key)) return key;
  throw new TypeError(
    'idempotencyKey must be a text of visible ASCII characters, without white space at either end.',
  );
}
