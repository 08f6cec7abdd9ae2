/**
 * API keys: `sk_test_` or `sk_live_` and a random part. The service keeps only the hash of a key: it is
 * random enough that a plain SHA-256 cannot be searched, and the same key always finds the same row.
 */
import { hash } from 'node:crypto';
import { MODES, type Mode } from './project.ts';

/** What the service makes: 32 of 62 characters, 190 bits. */
export const API_KEY_RANDOM_CHARACTERS = 32;
/** What an operator may bring: a bootstrap key has at least this many after its prefix. */
export const API_KEY_CHARACTERS_MIN = 16;
const HINT_CHARACTERS = 4;

/** All that an HTTP header carries unchanged. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

export function apiKeyPrefix(mode: Mode): string {
  return `sk_${mode}_`;
}

/** The mode a key speaks for; null when the text cannot be a key. */
export function parseApiKey(text: string): Mode | null {
  const mode = MODES.find((mode) => text.startsWith(apiKeyPrefix(mode)));
  if (mode === undefined || !VISIBLE_ASCII.test(text)) return null;
  return text.length >= apiKeyPrefix(mode).length + API_KEY_CHARACTERS_MIN ? mode : null;
}

/** SHA-256 of the whole key, in hex: what is stored, and what a request's key is looked up by. */
export function hashKey(text: string): string {
  return hash('sha256', text, 'hex');
}

/** The end of a key: enough to tell keys apart, too little to guess one. */
export function keyHint(text: string): string {
  return text.slice(-HINT_CHARACTERS);
}
