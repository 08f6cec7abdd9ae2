/**
 * Records what happened, line by line. It keeps the last lines for the reader, and a hash of all lines to
 * compare two runs.
 */
import { createHash } from 'node:crypto';
import type { VirtualTime } from './virtual-time.ts';

export class Trace {
  readonly #time: VirtualTime;
  readonly #keep: number;
  readonly #hash = createHash('sha256');
  #lines: string[] = [];
  #count = 0;

  constructor(time: VirtualTime, keep: number) {
    this.#time = time;
    this.#keep = keep;
  }

  add(what: string): void {
    const { elapsedMs } = this.#time;
    const line = `${clockText(elapsedMs)} ${new Date(this.#time.now()).toISOString().slice(5, 23)} ${what}`;
    this.#hash.update(line);
    this.#count++;
    this.#lines.push(line);
    if (this.#lines.length > 2 * this.#keep) this.#lines = this.#lines.slice(-this.#keep);
  }

  get count(): number {
    return this.#count;
  }

  digest(): string {
    return this.#hash.copy().digest('hex').slice(0, 16);
  }

  last(count: number = this.#keep): readonly string[] {
    return this.#lines.slice(-count);
  }
}

/** Formats elapsed time as `2d 03:04:05.678`. */
function clockText(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  return `${days}d ${new Date(ms).toISOString().slice(11, 23)}`;
}
