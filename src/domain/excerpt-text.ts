/** The bytes of an excerpt as text, where they are text. */

export interface ExcerptText {
  readonly excerpt: string;
  readonly encoding: 'utf-8' | 'base64';
}

const NUL = 0;

/**
 * Bytes that are not UTF-8, or that hold a NUL, are written as base64. The bound may have cut the last character of a
 * text in half; that character is then left out.
 */
export function excerptText(bytes: Uint8Array, isTruncated: boolean): ExcerptText {
  if (!bytes.includes(NUL)) {
    try {
      const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      return { excerpt: decoder.decode(bytes, { stream: isTruncated }), encoding: 'utf-8' };
    } catch {
      // It is not UTF-8.
    }
  }
  return { excerpt: Buffer.from(bytes).toString('base64'), encoding: 'base64' };
}
