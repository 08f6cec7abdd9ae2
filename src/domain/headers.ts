/** Custom headers in the order they were given; values never leave the vault but towards the receiver. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** Names plus values, in UTF-8 bytes. */
export const HEADERS_BYTES_MAX = 16_384;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// No control characters (tab counts as one, and so do those above ASCII), and nothing Latin-1 cannot carry.
const SENDABLE_VALUE = /^[\u0020-\u007e\u00a0-\u00ff]*$/;

const FORBIDDEN_NAMES: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Whether a delivery with this header may leave the house. Forbidden ones are stored with the schedule
 * and dead-letter its delivery when it fires.
 */
export function isSendableHeader(name: string, value: string): boolean {
  const lower = name.toLowerCase();
  return (
    TOKEN.test(name) &&
    SENDABLE_VALUE.test(value) &&
    !FORBIDDEN_NAMES.has(lower) &&
    !lower.startsWith('proxy-')
  );
}

/** EndpointProfile headers under schedule headers: the schedule's win, names compared without case. */
export function mergeHeaders(under: Headers, over: Headers): Headers {
  const taken = new Set(over.map(([name]) => name.toLowerCase()));
  return [...under.filter(([name]) => !taken.has(name.toLowerCase())), ...over];
}
