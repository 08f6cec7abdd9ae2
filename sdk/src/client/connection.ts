/**
 * Decides which service a client calls, and with which API key. Each of the two comes from the options, else from the
 * environment. A key belongs to an address: if SCHED_URL and SCHED_API_KEY are both set, the key is never sent to
 * another address. The public keys of `sched dev` belong to its address, so they need no `url`.
 */
import { describeValue } from '../describe-value.ts';
import type { Environment } from './environment.ts';

/** The fixed values of `sched dev`. They are public. */
export const DEV_URL = 'http://127.0.0.1:8080';
export const DEV_KEYS: readonly string[] = [
  'sk_test_local_development_only',
  'sk_live_local_development_only',
];

export interface Connection {
  /** The address without a final slash. */
  readonly base: string;
  readonly apiKey: string;
}

interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly apiKey?: string | undefined;
}

const URL_SETTING = 'SCHED_URL';
const KEY_SETTING = 'SCHED_API_KEY';
const VISIBLE = /^[\x21-\x7e]+$/;

const FOR_DEV = `For sched dev, ${KEY_SETTING}=${DEV_KEYS[0]} is enough.`;
const NOTHING_SET =
  `The address of the service and the API key are missing. ` +
  `Set ${URL_SETTING} and ${KEY_SETTING}, or pass new Sched({ url, apiKey }). ${FOR_DEV}`;
const NO_KEY = `The API key is missing. Set ${KEY_SETTING}, or pass it: new Sched({ apiKey }).`;
const NO_URL =
  `The address of the service is missing. ` +
  `Set ${URL_SETTING}, or pass it: new Sched({ url: 'https://sched.example.com' }).`;

export function resolveConnection(options: ConnectionOptions, environment: Environment): Connection {
  const urlSetting = environment(URL_SETTING);
  // JavaScript callers may pass null for no value.
  const isUrlGiven = isPresent(options.url);
  const isKeyGiven = isPresent(options.apiKey);
  const apiKey = isKeyGiven ? options.apiKey : environment(KEY_SETTING);
  const url = (isUrlGiven ? options.url : urlSetting) ?? (isDevKey(apiKey) ? DEV_URL : undefined);
  if (url === undefined && apiKey === undefined) throw new TypeError(NOTHING_SET);
  if (url === undefined) throw new TypeError(NO_URL);
  if (apiKey === undefined) throw new TypeError(NO_KEY);
  const base = parseBaseUrl(isUrlGiven ? 'url' : URL_SETTING, url);
  if (!isKeyGiven && urlSetting !== undefined) checkPair(base, parseBaseUrl(URL_SETTING, urlSetting));
  return { base, apiKey: checkKey(isKeyGiven ? 'apiKey' : KEY_SETTING, apiKey) };
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isDevKey(apiKey: string | undefined): boolean {
  return apiKey !== undefined && DEV_KEYS.includes(apiKey);
}

function checkPair(base: string, belongsTo: string): void {
  if (base === belongsTo) return;
  throw new TypeError(
    `${KEY_SETTING} belongs to ${belongsTo} (${URL_SETTING}), so it is not sent to ${base} (url). ` +
      'Pass the key of that service: new Sched({ url, apiKey }).',
  );
}

/** The key must never appear in an error. Fetch would quote a key that is not a valid header value. */
function checkKey(name: string, apiKey: unknown): string {
  if (typeof apiKey === 'string' && VISIBLE.test(apiKey)) return apiKey;
  const kind = typeof apiKey === 'string' ? '' : ` It got ${describeValue(apiKey)}.`;
  throw new TypeError(
    `${name} must be an API key such as sk_test_…: visible characters without white space.${kind}`,
  );
}

/** Errors do not quote the url, because it may contain a password. */
function parseBaseUrl(name: string, url: unknown): string {
  if (typeof url !== 'string' || !URL.canParse(url)) {
    throw new TypeError(`${name} must be an address such as https://sched.example.com.`);
  }
  const { protocol, username, password, search, hash, origin, pathname } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new TypeError(`${name} must start with https:// or http://.`);
  if (username !== '' || password !== '')
    throw new TypeError(`${name} must not contain a user name or password.`);
  if (search !== '' || hash !== '') throw new TypeError(`${name} must not have a query or a fragment.`);
  const path = pathname.replace(/\/+$/, '');
  if (path.endsWith('/v1')) throw new TypeError(`${name} must be the address of the service, without /v1.`);
  return origin + path;
}
