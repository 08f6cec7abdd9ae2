/** Custom headers in the given order. Their values are encrypted at rest and are shown only to the receiver. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** The size of names plus values, in UTF-8 bytes. */
export const HEADERS_BYTES_MAX = 16_384;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Control characters are excluded, also the tab and those above ASCII, and so is everything that Latin-1 cannot carry.
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
 * Returns true when the header may be sent. Other headers are stored with the schedule, and dead-letter its delivery
 * when it fires.
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

/**
 * Merges the headers of the endpoint profile with those of the schedule, which win. Names are compared without case.
 */
export function mergeHeaders(under: Headers, over: Headers): Headers {
  const taken = new Set(over.map(([name]) => name.toLowerCase()));
  return [...under.filter(([name]) => !taken.has(name.toLowerCase())), ...over];
}
