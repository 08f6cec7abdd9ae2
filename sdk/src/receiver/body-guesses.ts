/**
 * Guesses the body that was sent, from a body that was parsed and written again. Lost details, such as the order of
 * keys or `1.0`, cannot be guessed. But most bodies come from one of a few JSON writers, so those are tried. The
 * guesses are generated one at a time, so that no guess after the right one costs anything.
 */
import { jsonVariants, type Variant } from './json-guesses.ts';
import type { NearlyVerified } from './result.ts';

export interface BodyGuess {
  readonly reason: NearlyVerified['reason'];
  readonly matched: string;
  readonly body: Uint8Array;
}

const BYTE_ORDER_MARK = '\ufeff';
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function* bodyGuesses(body: Uint8Array): Generator<BodyGuess> {
  const text = decode(body);
  if (text === null || text === '') return;
  const latin1 = asLatin1(text);
  if (latin1 !== null) yield guess('the body when it is encoded as Latin-1', latin1);
  for (const variants of [textVariants(text), jsonVariants(text, body.length)]) {
    for (const [matched, variant] of variants) {
      if (variant !== text) yield guess(matched, encoder.encode(variant));
    }
  }
}

function guess(matched: string, body: Uint8Array): BodyGuess {
  return { reason: 'body_reserialised', matched, body };
}

function* textVariants(text: string): Generator<Variant> {
  yield ['the body with a line break at its end', `${text}\n`];
  yield ['the body with CR and LF at its end', `${text}\r\n`];
  yield ['the body with CR LF for its line breaks', text.replace(/\r?\n/g, '\r\n')];
  yield ['the body with LF for its line breaks', text.replaceAll('\r\n', '\n')];
  yield ['the body with a byte order mark', BYTE_ORDER_MARK + text];
  yield ['the body without its byte order mark', text.replace(/^\ufeff/, '')];
  // `trim` removes a byte order mark too.
  yield ['the body without the white space around it', text.trim()];
}

/** Undoes a body that was read as Latin-1 and written as UTF-8. Null if the text cannot be one. */
function asLatin1(text: string): Uint8Array | null {
  if (!/[\u0080-\u00ff]/.test(text) || /[\u0100-\uffff]/.test(text)) return null;
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function decode(body: Uint8Array): string | null {
  try {
    return decoder.decode(body);
  } catch {
    return null;
  }
}
