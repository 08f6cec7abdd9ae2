/**
 * Reports a failure that many run into again and again, such as a store that is away: the first at once, the others
 * as one line a second with their count, and the recovery once. An outage writes no more lines when more is under
 * way. It is over when something has succeeded and nothing has failed since the last line.
 */
import type { Log } from '#src/ports/telemetry.ts';
import type { Timers } from '#src/ports/timers.ts';

const LINE_EVERY_MS = 1_000;

export interface OutageLines {
  /** `count` failures since the line before; the fields of the last of them. */
  failed(fields: FailureFields, count: number): void;
  /** After so many failures in all. */
  recovered(failures: number): void;
}

interface OutageDependencies {
  readonly timers: Timers;
  readonly log: Log;
}

/** Writes these messages: warnings, and one line when it is over. */
export function warnsOfOutage(
  { timers, log }: OutageDependencies,
  failed: string,
  recovered: string,
): OutageLog {
  return new OutageLog(timers, {
    failed: (fields, count) => log.warn({ ...fields, count }, failed),
    recovered: (failures) => log.info({ failures }, recovered),
  });
}

type FailureFields = Readonly<Record<string, string>>;

export class OutageLog {
  readonly #timers: Timers;
  readonly #lines: OutageLines;
  /** Since the last recovery. */
  #failures = 0;
  /** The failures among them that no line has reported yet, and the fields of the last. */
  #unreported = 0;
  #lastFields: FailureFields = {};
  #hasSucceeded = false;
  /** Set while the next line has to wait. */
  #callOff: (() => void) | null = null;

  constructor(timers: Timers, lines: OutageLines) {
    this.#timers = timers;
    this.#lines = lines;
  }

  failed(fields: FailureFields): void {
    this.#failures++;
    this.#unreported++;
    this.#lastFields = fields;
    this.#hasSucceeded = false;
    this.#report();
  }

  /** Something succeeded that would have failed in the outage. */
  succeeded(): void {
    if (this.#failures === 0) return;
    this.#hasSucceeded = true;
    this.#report();
  }

  /** The next line does not wait; nobody fails or succeeds any more. */
  stop(): void {
    this.#callOff?.();
    this.#next();
    this.#callOff?.();
  }

  #next(): void {
    this.#callOff = null;
    this.#report();
  }

  #report(): void {
    if (this.#callOff !== null) return;
    if (this.#unreported > 0) {
      this.#lines.failed(this.#lastFields, this.#unreported);
      this.#unreported = 0;
      this.#callOff = this.#timers.after(LINE_EVERY_MS, () => this.#next());
    } else if (this.#hasSucceeded) {
      this.#lines.recovered(this.#failures);
      this.#failures = 0;
      this.#hasSucceeded = false;
    }
  }
}
