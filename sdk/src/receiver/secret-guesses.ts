/** Guesses the real secret, from what happens to it between the terminal, a settings file and the program. */
import type { NearlyVerified } from './result.ts';

export interface SecretGuess {
  readonly reason: NearlyVerified['reason'];
  readonly matched: string;
  readonly secret: string | Uint8Array;
}

const PREFIX = 'whsec_';
const API_KEY = /^sk_(test|live)_/;
/** White space, `\n` and `\r` written out, and quotation marks. */
const PADDING = /^(?:\s|["'`]|\\[nr])+|(?:\s|["'`]|\\[nr])+$/g;

export function secretGuesses(secret: string): readonly SecretGuess[] {
  const bare = secret.replace(PADDING, '');
  const guesses: SecretGuess[] = [];
  if (bare !== secret && bare !== '') {
    const matched = 'when the white space or quotation marks around the secret are removed';
    guesses.push({ reason: 'secret_padded', matched, secret: bare });
  }
  if (!bare.startsWith(PREFIX)) {
    const matched = `when ${PREFIX} is put in front of the secret`;
    return [...guesses, { reason: 'secret_without_prefix', matched, secret: PREFIX + bare }];
  }
  const decoded = decodeBase64(bare.slice(PREFIX.length));
  if (decoded !== null) {
    const matched = `when what follows ${PREFIX} is decoded from base64 and used as the key`;
    guesses.push({ reason: 'secret_decoded', matched, secret: decoded });
  }
  return guesses;
}

/** Returns the mode of the first API key among the secrets, or null. Sched signs nothing with an API key. */
export function modeOfApiKey(secrets: readonly string[]): string | null {
  for (const secret of secrets) {
    const [, mode] = API_KEY.exec(secret.replace(PADDING, '')) ?? [];
    if (mode !== undefined) return mode;
  }
  return null;
}

function decodeBase64(text: string): Uint8Array | null {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return bytes.length === 0 ? null : bytes;
  } catch {
    return null;
  }
}
