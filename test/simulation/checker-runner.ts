/** Calls the checkers of a simulation, and keeps the first failure until the step is over. */
import type { Checker } from './checkers/checker.ts';
import type { Trace } from './trace.ts';

export class CheckerRunner<C extends Checker> {
  readonly checkers: C[] = [];
  readonly #trace: Trace;
  #failure: unknown = null;

  constructor(trace: Trace) {
    this.#trace = trace;
  }

  notify(call: (checker: C) => void): void {
    try {
      for (const checker of this.checkers) call(checker);
    } catch (error) {
      this.fail(error);
    }
  }

  /** The failure is kept and thrown after the step, because the engine could catch it otherwise. */
  fail(error: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = error;
    this.#trace.add(`✗ ${String(error)}`);
  }

  throwFailure(): void {
    if (this.#failure !== null) throw this.#failure;
  }
}
