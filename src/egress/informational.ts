/**
 * Removes informational answers (1xx) from the bytes that undici reads. A server may send any number of them
 * before the final answer, and a client must skip them (RFC 9110, 15.2). undici treats an unexpected
 * `100 Continue` as a broken answer and closes the connection. `101` is not removed: no request asks for
 * another protocol, so it is an error.
 */
import type { Socket } from 'node:net';

const INFORMATIONAL = /^HTTP\/1\.[01] 1(?!01)\d\d$/;
const SAMPLE = 'HTTP/1.1 100';
const STATUS_AT = SAMPLE.indexOf('100');
const FIRST_DIGIT = '1'.charCodeAt(0);
const HEAD_END = '\r\n\r\n';
/** A longer head is passed on, and undici refuses it. */
const HEAD_BYTES_MAX = 16_384;

const NO_BYTES: Buffer = Buffer.alloc(0);

export class InformationalFilter {
  #isBeforeAnswer = true;
  #buffered: Buffer = NO_BYTES;

  /** Filters everything that is read from this socket from now on. */
  static install(socket: Socket): InformationalFilter {
    const filter = new InformationalFilter();
    const read = socket.read.bind(socket);
    socket.read = (size?: number): Buffer | null => {
      if (size !== undefined) return read(size);
      for (;;) {
        const chunk: Buffer | null = read();
        if (chunk === null) return null;
        const rest = filter.strip(chunk);
        if (rest.length > 0) return rest;
      }
    };
    return filter;
  }

  /** Must be called before each request. */
  expectAnswer(): void {
    this.#isBeforeAnswer = true;
    this.#buffered = NO_BYTES;
  }

  /** Returns the bytes for undici. Bytes that may still become an informational answer are buffered. */
  strip(chunk: Buffer): Buffer {
    if (!this.#isBeforeAnswer) return chunk;
    let bytes = this.#buffered.length === 0 ? chunk : Buffer.concat([this.#buffered, chunk]);
    while (mayBeInformational(bytes)) {
      const end = bytes.indexOf(HEAD_END);
      if (end < 0) return this.#buffer(bytes);
      bytes = bytes.subarray(end + HEAD_END.length);
    }
    return this.#finish(bytes);
  }

  #buffer(bytes: Buffer): Buffer {
    if (bytes.length > HEAD_BYTES_MAX) return this.#finish(bytes);
    this.#buffered = bytes;
    return NO_BYTES;
  }

  #finish(bytes: Buffer): Buffer {
    this.#isBeforeAnswer = false;
    this.#buffered = NO_BYTES;
    return bytes;
  }
}

/** Also true for an incomplete status line that could still become an informational one. */
function mayBeInformational(bytes: Buffer): boolean {
  // This digit decides for nearly every answer.
  if (bytes.length > STATUS_AT && bytes[STATUS_AT] !== FIRST_DIGIT) return false;
  const start = bytes.toString('latin1', 0, SAMPLE.length);
  return INFORMATIONAL.test(start + SAMPLE.slice(start.length));
}
