/**
 * Lines for a reader outside, such as standard error. They are gathered and written together, at the latest after
 * a moment: a write for each would cost more than what it tells of. One write is under way at a time, off this
 * thread, so that a reader who is slow or stuck holds up nothing. Lines that find too much waiting for it are
 * left out.
 */
import { write, writeSync } from 'node:fs';

const WRITE_CHARACTERS = 65_536;
const FLUSH_MS = 100;
const HELD_CHARACTERS_MAX = 16_777_216;
/** At the end a reader who takes nothing is waited for so often, so long. */
const LAST_ATTEMPTS_MAX = 50;
const LAST_ATTEMPT_MS = 20;

const BUSY = 'EAGAIN';

export class LineWriter {
  readonly #fd: number;
  #held = '';
  /** Of a write that was not taken whole: it comes before what is held. */
  #rest: Buffer = Buffer.alloc(0);
  #isWriting = false;
  #isWaiting = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** False: left out. What is urgent waits for nothing but the write that is under way. */
  put(line: string, isUrgent = false): boolean {
    if (this.#held.length + line.length > HELD_CHARACTERS_MAX) return false;
    this.#held += line;
    this.#goOn(isUrgent);
    return true;
  }

  #goOn(isUrgent = false): void {
    if (this.#isWriting || this.#held === '') return;
    if (isUrgent || this.#held.length >= WRITE_CHARACTERS) this.#write(this.#take());
    else if (!this.#isWaiting) this.#wait();
  }

  #wait(): void {
    this.#isWaiting = true;
    setTimeout(() => {
      this.#isWaiting = false;
      if (!this.#isWriting) this.#write(this.#take());
    }, FLUSH_MS).unref();
  }

  #take(): Buffer {
    const bytes = Buffer.from(this.#held);
    this.#held = '';
    return bytes;
  }

  #write(bytes: Buffer): void {
    this.#isWriting = bytes.length > 0;
    if (!this.#isWriting) return;
    write(this.#fd, bytes, (error, written) => {
      if (error?.code === BUSY) {
        this.#rest = bytes;
        setTimeout(() => this.#write(this.#takeRest()), FLUSH_MS).unref();
        return;
      }
      // Any other failure: nobody reads any more, and there is nobody left to tell.
      this.#write(error === null ? bytes.subarray(written) : bytes.subarray(bytes.length));
      this.#goOn();
    });
  }

  #takeRest(): Buffer {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest;
  }

  /** Writes what is held before it returns. What is being written has left this thread already. */
  flush(): void {
    let bytes = Buffer.concat([this.#takeRest(), this.#take()]);
    for (let attempts = 0; bytes.length > 0 && attempts < LAST_ATTEMPTS_MAX; attempts++) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== BUSY) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_ATTEMPT_MS);
      }
    }
  }
}
