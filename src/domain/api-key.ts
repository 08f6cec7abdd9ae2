/**
 * API keys are `sk_test_` or `sk_live_` and a random part. The service keeps only the hash of a key. A key is random
 * enough that a plain SHA-256 cannot be searched, and the same key always finds the same row.
 */
import { hash } from 'node:crypto';
import { MODES, type Mode } from './project.ts';

/** The random part of generated keys: 32 of 62 characters, which are 190 bits. */
export const API_KEY_RANDOM_CHARACTERS = 32;
/** A bootstrap key, which an operator chooses, has at least this many characters after its prefix. */
export const API_KEY_CHARACTERS_MIN = 16;
const HINT_CHARACTERS = 4;

/** The characters that an HTTP header carries unchanged. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

export function apiKeyPrefix(mode: Mode): string {
  return `sk_${mode}_`;
}

/** Returns the mode of a key. Returns null when the text cannot be a key. */
export function parseApiKey(text: string): Mode | null {
  const mode = MODES.find((mode) => text.startsWith(apiKeyPrefix(mode)));
  if (mode === undefined || !VISIBLE_ASCII.test(text)) return null;
  return text.length >= apiKeyPrefix(mode).length + API_KEY_CHARACTERS_MIN ? mode : null;
}

/** Returns the SHA-256 of the whole key, in hex. The hash is stored, and a request's key is found by it. */
export function hashKey(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Returns the end of a key: enough to recognise the key, too little to guess it. */
export function keyHint(text: string): string {
  return text.slice(-HINT_CHARACTERS);
}
