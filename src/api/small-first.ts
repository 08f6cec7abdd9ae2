/** A body of unknown length: its beginning is passed on at once, and the rest when there is room for a large body. */
import { type Readable, Transform, type TransformCallback } from 'node:stream';

export class SmallFirst extends Transform {
  readonly #bytesMax: number;
  readonly #admit: () => Promise<void>;
  #bytes = 0;
  #isLarge = false;

  /** `admit` is called once the body has more than `bytesMax`. */
  private constructor(bytesMax: number, admit: () => Promise<void>) {
    // The sender is held back, so nothing piles up in here.
    super({ writableHighWaterMark: 1 });
    this.#bytesMax = bytesMax;
    this.#admit = admit;
  }

  static of(body: Readable, bytesMax: number, admit: () => Promise<void>): SmallFirst {
    const passed = new SmallFirst(bytesMax, admit);
    // Whoever reads it may have stopped listening when the connection breaks.
    passed.on('error', () => {});
    // A pipeline would close the connection on a refusal, and nobody would read it.
    body.once('error', (error) => passed.destroy(error));
    return body.pipe(passed);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, passOn: TransformCallback): void {
    this.#bytes += chunk.length;
    if (this.#isLarge || this.#bytes <= this.#bytesMax) {
      passOn(null, chunk);
      return;
    }
    this.#isLarge = true;
    this.#admit().then(() => passOn(null, chunk), passOn);
  }
}
