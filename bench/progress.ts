/** Shows the progress of a run: one line that is overwritten on a terminal, or one line for each step elsewhere. */

const MS_PER_SECOND = 1_000;
const SECONDS_PER_MINUTE = 60;
const REDRAW_EVERY_MS = 1_000;
const CLEAR_LINE = '\r\u001b[K';

export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Progress {
  /** Called once for each step, as it begins. Example: `Sched on SQLite: burst of 5,000, round 2`. */
  step(what: string): void;
  /** Writes a line that stays. */
  note(text: string): void;
}

export class ProgressLine implements Progress, Disposable {
  readonly #output: Output;
  readonly #now: () => number;
  readonly #steps: number;
  readonly #startedAt: number;
  #begun = 0;
  #what = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(steps: number, output: Output = process.stderr, now: () => number = () => performance.now()) {
    this.#steps = steps;
    this.#output = output;
    this.#now = now;
    this.#startedAt = now();
    if (output.isTTY) this.#timer = setInterval(() => this.#draw(), REDRAW_EVERY_MS).unref();
  }

  step(what: string): void {
    this.#begun++;
    this.#what = what;
    this.#draw();
  }

  note(text: string): void {
    this.#output.write(this.#output.isTTY ? `${CLEAR_LINE}${text}\n` : `${text}\n`);
  }

  /** Sets the number of steps that are over, including those that were left out. */
  passed(steps: number): void {
    this.#begun = steps;
  }

  #draw(): void {
    const elapsedMs = this.#now() - this.#startedAt;
    const done = Math.max(this.#begun - 1, 0);
    const leftMs = done === 0 ? null : (elapsedMs / done) * (this.#steps - done);
    const times = [
      `${clock(elapsedMs)} elapsed`,
      ...(leftMs === null ? [] : [`about ${clock(leftMs)} left`]),
    ];
    const line = `${this.#begun} of ${this.#steps}  ${this.#what}  (${times.join(', ')})`;
    if (this.#output.isTTY) this.#output.write(CLEAR_LINE + line.slice(0, (this.#output.columns ?? 80) - 1));
    else this.#output.write(`${line}\n`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#output.isTTY) this.#output.write(CLEAR_LINE);
  }
}

function clock(ms: number): string {
  const seconds = Math.round(ms / MS_PER_SECOND);
  return `${Math.floor(seconds / SECONDS_PER_MINUTE)}:${String(seconds % SECONDS_PER_MINUTE).padStart(2, '0')}`;
}
