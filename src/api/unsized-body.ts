/** The body of a request without a Content-Length. The rest waits for the budget when it turns out to be large. */
import { type Readable, Transform, type TransformCallback } from 'node:stream';

export class UnsizedBody extends Transform {
  readonly #bytesMax: number;
  readonly #admit: () => Promise<void>;
  #bytes = 0;
  #isLarge = false;

  /** `admit` is called when the body has more than `bytesMax`. */
  private constructor(bytesMax: number, admit: () => Promise<void>) {
    // A small buffer, so that the backpressure reaches the sender.
    super({ writableHighWaterMark: 1 });
    this.#bytesMax = bytesMax;
    this.#admit = admit;
  }

  static of(body: Readable, bytesMax: number, admit: () => Promise<void>): UnsizedBody {
    const unsized = new UnsizedBody(bytesMax, admit);
    // The reader may have stopped listening when the connection breaks.
    unsized.on('error', () => {});
    // A pipeline would close the connection on a refusal, and the client could not read the error.
    body.once('error', (error) => unsized.destroy(error));
    return body.pipe(unsized);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, forward: TransformCallback): void {
    this.#bytes += chunk.length;
    if (this.#isLarge || this.#bytes <= this.#bytesMax) {
      forward(null, chunk);
      return;
    }
    this.#isLarge = true;
    this.#admit().then(() => forward(null, chunk), forward);
  }
}
