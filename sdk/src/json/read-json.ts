/**
 * Reads JSON from outside. `JSON.parse` of V8 13 and 14 (Node 24 to 26) has a bug with object keys that contain an
 * escape: it can mistake such a key for another key from any text of the same process (nodejs/node#63785). Texts with
 * such a key are read here. All other texts are left to the runtime.
 */
import { JsonBuilder } from './builder.ts';
import { JsonScanner } from './scanner.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const KEY_FOLLOWED = /[ \t\r\n]*:/y;

/** Returns the value of a JSON text. Throws a SyntaxError if it is not JSON. */
export function readJson(text: string): unknown {
  return hasEscapedKey(text) ? readStrictly(text) : JSON.parse(text);
}

/** Does the same without `JSON.parse`, except for single strings. */
export function readStrictly(text: string): unknown {
  const builder = new JsonBuilder();
  new JsonScanner(text, builder).advance(Number.POSITIVE_INFINITY);
  return builder.value;
}

/** Whether any key contains an escape. For a text that is not JSON, the result is undefined. */
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
