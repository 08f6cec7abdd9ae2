/**
 * Writes lines to a file descriptor such as standard error. Lines are buffered and written together after a
 * moment at the latest, because one write per line would cost more than the work that it reports. One write is
 * in progress at a time, on another thread, so a slow reader delays nothing. Lines beyond the limit of the
 * buffer are dropped.
 */
import { write, writeSync } from 'node:fs';

const WRITE_CHARACTERS = 65_536;
const FLUSH_MS = 100;
const BUFFERED_CHARACTERS_MAX = 16_777_216;
/** At the end of the process, a busy reader gets this many chances. */
const FLUSH_ATTEMPTS_MAX = 50;
const FLUSH_RETRY_MS = 20;

const BUSY = 'EAGAIN';

export class LineWriter {
  readonly #fd: number;
  #buffered = '';
  /** The bytes of a write that must be repeated. They come before the buffered lines. */
  #unwritten: Buffer = Buffer.alloc(0);
  #isWriting = false;
  #isScheduled = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Returns false if the line was dropped. An urgent line waits only for a write in progress. */
  write(line: string, isUrgent = false): boolean {
    if (this.#buffered.length + line.length > BUFFERED_CHARACTERS_MAX) return false;
    this.#buffered += line;
    this.#continue(isUrgent);
    return true;
  }

  #continue(isUrgent = false): void {
    if (this.#isWriting || this.#buffered === '') return;
    if (isUrgent || this.#buffered.length >= WRITE_CHARACTERS) this.#write(this.#takeBuffered());
    else if (!this.#isScheduled) this.#schedule();
  }

  #schedule(): void {
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      if (!this.#isWriting) this.#write(this.#takeBuffered());
    }, FLUSH_MS).unref();
  }

  #takeBuffered(): Buffer {
    const bytes = Buffer.from(this.#buffered);
    this.#buffered = '';
    return bytes;
  }

  #write(bytes: Buffer): void {
    this.#isWriting = bytes.length > 0;
    if (!this.#isWriting) return;
    write(this.#fd, bytes, (error, written) => {
      if (error?.code === BUSY) {
        this.#unwritten = bytes;
        setTimeout(() => this.#write(this.#takeUnwritten()), FLUSH_MS).unref();
        return;
      }
      // After any other error there is no reader, and no place to report it.
      this.#write(error === null ? bytes.subarray(written) : bytes.subarray(bytes.length));
      this.#continue();
    });
  }

  #takeUnwritten(): Buffer {
    const bytes = this.#unwritten;
    this.#unwritten = Buffer.alloc(0);
    return bytes;
  }

  /** Writes all buffered lines before it returns. A write in progress is already on another thread. */
  flush(): void {
    let bytes = Buffer.concat([this.#takeUnwritten(), this.#takeBuffered()]);
    for (let attempts = 0; bytes.length > 0 && attempts < FLUSH_ATTEMPTS_MAX; attempts++) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== BUSY) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FLUSH_RETRY_MS);
      }
    }
  }
}
