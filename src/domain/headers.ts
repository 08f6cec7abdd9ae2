/** Custom headers in the given order. Their values are encrypted at rest and are shown only to the receiver. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** The size of names plus values, in UTF-8 bytes. */
export const HEADERS_BYTES_MAX = 16_384;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Control characters are excluded, also the tab and those above ASCII, and so is everything that Latin-1 cannot carry.
const SENDABLE_VALUE = /^[\u0020-\u007e\u00a0-\u00ff]*$/;
const LINE_BREAK = /[\r\n]/;
const CONTROL_CHARACTER = /\p{Cc}/u;

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

/** Why a header may not be sent, as a code of the failure (`failures.ts`). */
export type HeaderFault =
  | 'forbidden_header_name'
  | 'header_name_invalid'
  | 'header_line_break'
  | 'header_control_character'
  | 'header_not_latin1';

/**
 * Returns null when the header may be sent. Other headers are stored with the schedule, and dead-letter its delivery
 * when it fires.
 */
export function headerFault(name: string, value: string): HeaderFault | null {
  const lower = name.toLowerCase();
  if (FORBIDDEN_NAMES.has(lower) || lower.startsWith('proxy-')) return 'forbidden_header_name';
  if (!TOKEN.test(name)) return 'header_name_invalid';
  if (SENDABLE_VALUE.test(value)) return null;
  if (LINE_BREAK.test(value)) return 'header_line_break';
  return CONTROL_CHARACTER.test(value) ? 'header_control_character' : 'header_not_latin1';
}

/**
 * Merges the headers of the endpoint profile with those of the schedule, which win. Names are compared without case.
 */
export function mergeHeaders(under: Headers, over: Headers): Headers {
  const taken = new Set(over.map(([name]) => name.toLowerCase()));
  return [...under.filter(([name]) => !taken.has(name.toLowerCase())), ...over];
}
