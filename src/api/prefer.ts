/**
 * The `Prefer` header (RFC 7240). The service knows one preference: `handling=strict` refuses a request with a field
 * that would be ignored. `handling=lenient` is the default. Every other preference is ignored, as the RFC asks.
 */

export const STRICT_APPLIED = 'handling=strict';

const HANDLING = 'handling';
const STRICT = 'strict';

/** A name, and its value as a token or as a quoted string. Parameters follow, and no known preference has any. */
const PREFERENCE =
  /[ \t]*([!#$%&'*+.^_`|~\w-]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+.^_`|~\w-]*)))?/y;
/** The rest up to the next preference. A comma inside quotes does not end it. */
const REST = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)*,?/y;

/** Several `Prefer` headers arrive as one text, separated by commas. The first occurrence of a preference counts. */
export function wantsStrict(prefer: string | readonly string[] | undefined): boolean {
  if (typeof prefer !== 'string') return false;
  if (prefer === STRICT_APPLIED) return true;
  for (let at = 0; at < prefer.length; ) {
    PREFERENCE.lastIndex = at;
    const [whole = '', name = '', quoted, token] = PREFERENCE.exec(prefer) ?? [];
    if (name.toLowerCase() === HANDLING) {
      const value = quoted === undefined ? token : quoted.replace(/\\(.)/g, '$1');
      return value?.toLowerCase() === STRICT;
    }
    REST.lastIndex = at + whole.length;
    REST.exec(prefer);
    at = REST.lastIndex;
  }
  return false;
}
