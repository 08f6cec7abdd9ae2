/** Checks what the developer passes before any request is accepted with it. JavaScript callers may pass anything. */
import { describeValue, isFields } from '../describe-value.ts';

const TOLERANCE_SECONDS = 300;
export const SECRETS_MAX = 8;

export const NO_SECRET = 'There is no signing secret. The setting that it comes from is empty or unset.';

/** Leaves out empty secrets, because anybody could sign with an empty key. */
export function usableSecrets(secret: string | readonly string[] | null | undefined): readonly string[] {
  const given: unknown = typeof secret === 'string' ? [secret] : (secret ?? []);
  if (!Array.isArray(given)) {
    throw new TypeError(
      `The signing secret must be a text, or a list of texts. It got ${describeValue(given)}.`,
    );
  }
  const secrets = given.filter((each): each is string => typeof each === 'string' && each.trim() !== '');
  if (secrets.length > SECRETS_MAX) throw new RangeError(`There can be at most ${SECRETS_MAX} secrets.`);
  return secrets;
}

/** A tolerance that is not a number would accept every timestamp. */
export function checkTolerance(seconds: number = TOLERANCE_SECONDS): number {
  if (typeof seconds === 'number' && seconds >= 0) return seconds;
  throw new RangeError('toleranceSeconds must be a number of at least 0.');
}

/** Options may be left out. */
export function checkOptions<T extends object>(name: string, options: T | null | undefined): Partial<T> {
  if (options === undefined || options === null) return {};
  if (isFields(options)) return options;
  throw new TypeError(`The options of ${name} are an object. It got ${describeValue(options)}.`);
}

const REQUEST_FORM =
  'verify(request, secret) needs the request: a Request of Fetch, or { method, url, headers, body }.';

export function checkRequest(request: unknown): void {
  if (!isFields(request)) throw new TypeError(`${REQUEST_FORM} It got ${describeValue(request)}.`);
  const { method, url, headers } = request;
  const missing = [
    ...(typeof method === 'string' ? [] : ['method']),
    ...(typeof url === 'string' ? [] : ['url']),
    ...(typeof headers === 'object' && headers !== null ? [] : ['headers']),
  ];
  if (missing.length > 0)
    throw new TypeError(`${REQUEST_FORM} It got an object without ${missing.join(', ')}.`);
}

interface RequiredOptions {
  readonly handle?: unknown;
  readonly deduplicate?: unknown;
}

const STORE_CALLS = ['begin', 'done', 'forget'];

export function checkReceiverOptions(options: RequiredOptions): void {
  if (!isFields(options)) {
    throw new TypeError(
      `A receiver takes an object with options, such as { secret, handle }. It got ${describeValue(options)}.`,
    );
  }
  const { handle, deduplicate: store } = options;
  if (typeof handle !== 'function') {
    throw new TypeError(`handle must be a function that does the work. It got ${describeValue(handle)}.`);
  }
  if (store === undefined) return;
  const calls = (store ?? {}) as Readonly<Record<string, unknown>>;
  if (STORE_CALLS.some((call) => typeof calls[call] !== 'function')) {
    throw new TypeError(
      'deduplicate must be a store with begin, done and forget, such as new MemoryStore().',
    );
  }
}
