/**
 * Reads JSON from outside. `JSON.parse` of V8 13 and 14 (Node 24 to 26) can take an object key that is written with an
 * escape for another key that it has met before, in any text of the same process (nodejs/node#63785). Texts that have
 * such a key are read here; all others are left to the runtime.
 */
import { JsonBuilder } from './builder.ts';
import { JsonScanner } from './scanner.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const KEY_FOLLOWED = /[ \t\r\n]*:/y;

/** The value of a JSON text. Throws a SyntaxError if it is not JSON. */
export function readJson(text: string): unknown {
  return hasEscapedKey(text) ? readStrictly(text) : JSON.parse(text);
}

/** The same for every text. It does without `JSON.parse` of anything but single strings. */
export function readStrictly(text: string): unknown {
  const builder = new JsonBuilder();
  new JsonScanner(text, builder).advance(Number.POSITIVE_INFINITY);
  return builder.value;
}

/** Whether any key is written with an escape. Of a text that is not JSON the answer may be either. */
export function hasEscapedKey(text: string): boolean {
  if (!text.includes('\\')) return false;
  for (let open = text.indexOf('"'); open >= 0; ) {
    let isEscaped = false;
    let at = open + 1;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        isEscaped = true;
        at++;
      }
    }
    KEY_FOLLOWED.lastIndex = at + 1;
    if (isEscaped && KEY_FOLLOWED.test(text)) return true;
    open = text.indexOf('"', at + 1);
  }
  return false;
}
