/**
 * Memory for answers. An answer costs memory from the moment its rows are read until its client has taken it, and
 * labels may make it as long as a page may be. Three budgets bound that, each shared by customers:
 *
 * - Every answer that is read enters as an ordinary one, for the little time until its size is known. From then on it
 *   holds its size. Clients that do not take long answers hold nothing here, so ordinary answers do not wait for them.
 * - An answer that turns out to be long is dropped, and read again when there is room for the longest.
 * - A change is made once, so its answer cannot be dropped. After a large body it enters with the size of that body, in
 *   a budget of its own. Other changes of what exists are ordinary. A create with a small body has a small answer, and
 *   never waits.
 */
import type { ServerResponse } from 'node:http';
import type { RenderedAnswer } from '#src/commands/command.ts';
import type { Timers } from '#src/ports/system.ts';
import { type Admission, ByteBudget } from './byte-budget.ts';
import { SMALL_BODY_BYTES_MAX } from './large-bodies.ts';

/** An answer that is not longer is ordinary. A page of a hundred schedules is, unless their labels are long. */
export const ORDINARY_ANSWER_BYTES = 262_144;
/** A page ends once it has 2 MiB. An item is hardly longer than the request that made it. */
export const LONGEST_ANSWER_BYTES = 3 * 1_048_576 + 65_536;
/** Room for 64 answers of unknown size. Each may hold one item of a megabyte. */
export const ORDINARY_BYTES_MAX = 64 * ORDINARY_ANSWER_BYTES;
/** Room for 16 long answers. Each takes several times its size while it is made. */
export const LONG_BYTES_MAX = 16 * LONGEST_ANSWER_BYTES;
/** Answers to large bodies. Fewer of these are carried out at a time. */
export const CHANGE_BYTES_MAX = 16 * 1_048_576;

/** The answer has more bytes than it may. */
export class LongAnswer extends Error {}

/** Makes an answer. Throws a LongAnswer as soon as it has more than `bytesMax`, or answers what is longer. */
export type ReadAnswer = (bytesMax: number) => Promise<RenderedAnswer>;

export class AnswerBudget {
  readonly #ordinary: ByteBudget;
  readonly #long: ByteBudget;
  readonly #changes: ByteBudget;

  constructor(timers: Timers) {
    this.#ordinary = new ByteBudget(ORDINARY_BYTES_MAX, timers);
    this.#long = new ByteBudget(LONG_BYTES_MAX, timers);
    this.#changes = new ByteBudget(CHANGE_BYTES_MAX, timers);
  }

  /** An answer that is read from the store, and may be read twice. */
  async read(response: ServerResponse, customer: string, read: ReadAnswer): Promise<RenderedAnswer> {
    const ordinary = await this.#readOrdinary(response, customer, read);
    if (ordinary !== null) return ordinary;
    const admission = enter(this.#long, response, customer, LONGEST_ANSWER_BYTES);
    await admission.admitted;
    return held(admission, await read(Number.POSITIVE_INFINITY));
  }

  /** The answer to a change. `bodyBytes`: of its request. */
  async change<A extends RenderedAnswer>(
    response: ServerResponse,
    customer: string,
    bodyBytes: number,
    act: () => Promise<A>,
  ): Promise<A> {
    const admission =
      bodyBytes > SMALL_BODY_BYTES_MAX
        ? enter(this.#changes, response, customer, bodyBytes)
        : enter(this.#ordinary, response, customer, ORDINARY_ANSWER_BYTES);
    await admission.admitted;
    return held(admission, await act());
  }

  /** Null: the answer is long. Whoever waits for room then has nothing of it in memory. */
  async #readOrdinary(
    response: ServerResponse,
    customer: string,
    read: ReadAnswer,
  ): Promise<RenderedAnswer | null> {
    const admission = enter(this.#ordinary, response, customer, ORDINARY_ANSWER_BYTES);
    await admission.admitted;
    try {
      const finished = await read(ORDINARY_ANSWER_BYTES);
      if (bytesIn(finished) <= ORDINARY_ANSWER_BYTES) return held(admission, finished);
    } catch (error) {
      if (!(error instanceof LongAnswer)) throw error;
    }
    admission.leave();
    return null;
  }
}

/** The bytes are given back when the client has taken the answer, or has gone away. */
function enter(budget: ByteBudget, response: ServerResponse, customer: string, bytes: number): Admission {
  const admission = budget.enter(customer, bytes);
  response.once('close', () => admission.leave());
  if (response.closed) admission.leave();
  return admission;
}

function held<A extends RenderedAnswer>(admission: Admission, finished: A): A {
  admission.resize(bytesIn(finished));
  return finished;
}

function bytesIn({ body }: RenderedAnswer): number {
  return Buffer.byteLength(body);
}
