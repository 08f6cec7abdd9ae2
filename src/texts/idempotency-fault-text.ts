/** Says what is wrong with the header `Idempotency-Key`. Its value is never repeated. */
import { counted } from './quote.ts';

export const KEY_CHARACTERS_MAX = 255;

export function keyTooLongText(characters: number): string {
  return `Idempotency-Key has ${counted(characters)} characters. At most ${KEY_CHARACTERS_MAX} are allowed: use a UUID.`;
}

export const KEY_REUSED_TEXT =
  'This Idempotency-Key was used for a different request in the last 24 hours: another method, path or body. Use a new key for each request, and the same key only to repeat one unchanged.';

export const KEY_IN_PROGRESS_TEXT =
  'The first request with this Idempotency-Key is still in progress. Send it again in a moment, with the same key.';
