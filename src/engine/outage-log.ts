/**
 * Logs a failure that repeats, such as a store that is away: the first at once, the others as one line a second with
 * their count, and the recovery once. The number of lines does not grow with the load. An outage is over when something
 * has succeeded and nothing has failed since the last line.
 */

import type { Timers } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';

const LINE_EVERY_MS = 1_000;

export interface OutageLines {
  /** There were `count` failures since the last line. The fields are those of the last failure. */
  failed(fields: FailureFields, count: number): void;
  /** The outage is over. It had this many failures in all. */
  recovered(failures: number): void;
}

interface OutageDependencies {
  readonly timers: Timers;
  readonly log: Log;
}

/** Writes warnings with the first text, and one line with the second when the outage is over. */
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
  /** Failures since the last recovery. */
  #failures = 0;
  /** Failures that no line has reported yet, and the fields of the last. */
  #unreported = 0;
  #lastFields: FailureFields = {};
  #hasSucceeded = false;
  /** Cancels the timer of the next line; null when a line may be written at once. */
  #cancel: (() => void) | null = null;

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

  /** A call succeeded that would have failed in the outage. */
  succeeded(): void {
    if (this.#failures === 0) return;
    this.#hasSucceeded = true;
    this.#report();
  }

  /** Writes the lines that are left. Nothing may fail or succeed after this. */
  stop(): void {
    this.#cancel?.();
    this.#next();
    this.#cancel?.();
  }

  #next(): void {
    this.#cancel = null;
    this.#report();
  }

  #report(): void {
    if (this.#cancel !== null) return;
    if (this.#unreported > 0) {
      this.#lines.failed(this.#lastFields, this.#unreported);
      this.#unreported = 0;
      this.#cancel = this.#timers.after(LINE_EVERY_MS, () => this.#next());
    } else if (this.#hasSucceeded) {
      this.#lines.recovered(this.#failures);
      this.#failures = 0;
      this.#hasSucceeded = false;
    }
  }
}
