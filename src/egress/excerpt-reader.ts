/**
 * Keeps the first bytes of one answer as they were sent: nothing is decoded, so a compressed answer costs no more than
 * any other. The bytes are copied, because those that the parser hands out are part of a larger buffer.
 */
import type { AnswerExcerpt } from '#src/ports/egress.ts';

const CONTENT_TYPE_CHARACTERS_MAX = 255;
const NOT_VISIBLE = /[^\x20-\x7e]/g;
/** A slow answer may arrive byte by byte, so the buffer grows by doubling. */
const GROWTH = 2;

/** The values of a repeated header are a list. */
type HeaderValue = string | readonly string[] | undefined;

export class ExcerptReader {
  readonly #bytesMax: number;
  readonly #contentType: string | null;
  readonly #ended = Promise.withResolvers<AnswerExcerpt>();
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(bytesMax: number, contentType: HeaderValue) {
    this.#bytesMax = bytesMax;
    this.#contentType = visible(contentType);
  }

  /** Resolves when enough was read. Never rejects. */
  get excerpt(): Promise<AnswerExcerpt> {
    return this.#ended.promise;
  }

  add(chunk: Buffer): void {
    const taken = Math.min(chunk.length, this.#bytesMax - this.#length);
    this.#reserve(this.#length + taken);
    chunk.copy(this.#buffer, this.#length, 0, taken);
    this.#length += taken;
    if (taken < chunk.length) this.end(false);
    // The end of the answer nearly always arrives with its last bytes, and is read before this microtask runs.
    else if (this.#length === this.#bytesMax) queueMicrotask(() => this.end(false));
  }

  /** `isWhole`: the answer has ended, and all its bytes were read. Only the first call counts. */
  end(isWhole: boolean): void {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#ended.resolve({ contentType: this.#contentType, bytes, isTruncated: !isWhole });
  }

  #reserve(length: number): void {
    if (length <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(
      Math.min(Math.max(length, this.#buffer.length * GROWTH), this.#bytesMax),
    );
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** The receiver chooses this text, so it is bounded, and nothing is left in it that a terminal would act upon. */
function visible(value: HeaderValue): string | null {
  const text = typeof value === 'string' ? value : (value?.[0] ?? '');
  const shown = text.replace(NOT_VISIBLE, '').slice(0, CONTENT_TYPE_CHARACTERS_MAX).trim();
  return shown === '' ? null : shown;
}
