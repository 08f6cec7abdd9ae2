/**
 * Informational answers (1xx) may come unasked, any number of them before the real one, and are to be passed
 * over (RFC 9110, 15.2). undici takes an unasked `100 Continue` for a broken answer and closes the
 * connection; so they are taken out of what it reads. `101` stays: nobody asked for another protocol.
 */
import type { Socket } from 'node:net';

const INFORMATIONAL = /^HTTP\/1\.[01] 1(?!01)\d\d$/;
const SAMPLE = 'HTTP/1.1 100';
const STATUS_AT = SAMPLE.indexOf('100');
const FIRST_DIGIT = '1'.charCodeAt(0);
const HEAD_END = '\r\n\r\n';
/** A longer head is passed on, and refused there. */
const HEAD_BYTES_MAX = 16_384;

const NOTHING: Buffer = Buffer.alloc(0);

export class InformationalFilter {
  #isBeforeAnswer = true;
  #held: Buffer = NOTHING;

  /** Filters what is read from this connection from now on. */
  static install(socket: Socket): InformationalFilter {
    const filter = new InformationalFilter();
    const read = socket.read.bind(socket);
    socket.read = (size?: number): Buffer | null => {
      if (size !== undefined) return read(size);
      for (;;) {
        const chunk: Buffer | null = read();
        if (chunk === null) return null;
        const rest = filter.pass(chunk);
        if (rest.length > 0) return rest;
      }
    };
    return filter;
  }

  /** To be called before each request. */
  expectAnswer(): void {
    this.#isBeforeAnswer = true;
    this.#held = NOTHING;
  }

  /** What is left of the bytes received; those that may still become an informational answer are held back. */
  pass(chunk: Buffer): Buffer {
    if (!this.#isBeforeAnswer) return chunk;
    let bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    while (mayBeInformational(bytes)) {
      const end = bytes.indexOf(HEAD_END);
      if (end < 0) return this.#rememberDeferred(bytes);
      bytes = bytes.subarray(end + HEAD_END.length);
    }
    return this.#passOn(bytes);
  }

  #rememberDeferred(bytes: Buffer): Buffer {
    if (bytes.length > HEAD_BYTES_MAX) return this.#passOn(bytes);
    this.#held = bytes;
    return NOTHING;
  }

  #passOn(bytes: Buffer): Buffer {
    this.#isBeforeAnswer = false;
    this.#held = NOTHING;
    return bytes;
  }
}

/** Also true for a beginning that the sample could complete. */
function mayBeInformational(bytes: Buffer): boolean {
  // Nearly every answer is told apart by this digit.
  if (bytes.length > STATUS_AT && bytes[STATUS_AT] !== FIRST_DIGIT) return false;
  const start = bytes.toString('latin1', 0, SAMPLE.length);
  return INFORMATIONAL.test(start + SAMPLE.slice(start.length));
}
