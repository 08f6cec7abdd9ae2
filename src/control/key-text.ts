import { API_KEY_RANDOM_CHARACTERS, apiKeyPrefix } from '#src/domain/api-key.ts';
import type { Mode } from '#src/domain/project.ts';
import type { Random } from '#src/ports/system.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 in a byte. Larger bytes are drawn again, or the first 8 digits would be more likely. */
const UNBIASED_BELOW = 256 - (256 % BASE62.length);

export function randomBase62(random: Random, count: number): string {
  let text = '';
  while (text.length < count) {
    for (const byte of random.bytes(count - text.length)) {
      if (byte < UNBIASED_BELOW) text += BASE62.charAt(byte % BASE62.length);
    }
  }
  return text;
}

export function newApiKey(mode: Mode, random: Random): string {
  return apiKeyPrefix(mode) + randomBase62(random, API_KEY_RANDOM_CHARACTERS);
}
