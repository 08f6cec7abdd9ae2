/**
 * Limits the memory of answers. An answer uses memory from the moment its rows are read until its client has
 * received it, and labels can make it as long as a page may be. Three budgets limit that, and customers share
 * each of them:
 *
 * - Every answer that is read starts as an ordinary one until its size is known. From then on it holds its
 *   real size. Clients that do not read long answers hold nothing here, so ordinary answers do not wait for
 *   them.
 * - An answer that turns out to be long is dropped, and read again when the longest answer would fit.
 * - A change is made once, so its answer cannot be dropped. After a large body it starts with the size of that
 *   body, in its own budget. Other changes of existing objects are ordinary. A create with a small body has a
 *   small answer and never waits.
 */
import type { ServerResponse } from 'node:http';
import type { RenderedAnswer } from '#src/commands/command.ts';
import type { Timers } from '#src/ports/system.ts';
import { SMALL_BODY_BYTES_MAX } from './body-budget.ts';
import { ByteBudget, type BytePermit } from './byte-budget.ts';

/** A longer answer is long. A page of a hundred schedules is ordinary, unless their labels are long. */
export const ORDINARY_ANSWER_BYTES = 262_144;
/** A page ends when it has 2 MiB. One item is hardly longer than the request that created it. */
export const LONGEST_ANSWER_BYTES = 3 * 1_048_576 + 65_536;
/** Enough for 64 answers of unknown size. Each may contain one item of a megabyte. */
export const ORDINARY_BYTES_MAX = 64 * ORDINARY_ANSWER_BYTES;
/** Enough for 16 long answers. Each needs several times its size while it is built. */
export const LONG_BYTES_MAX = 16 * LONGEST_ANSWER_BYTES;
/** The budget of answers to large bodies. Fewer of these are processed at a time. */
export const CHANGE_BYTES_MAX = 16 * 1_048_576;

/** The answer has more bytes than its reader allows. */
export class AnswerTooLong extends Error {}

/** Builds an answer. May throw AnswerTooLong as soon as it has more than `bytesMax`. */
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

  /** Answers a request that reads from the store. `read` may be called twice. */
  async read(response: ServerResponse, customer: string, read: ReadAnswer): Promise<RenderedAnswer> {
    const ordinary = await this.#readOrdinary(response, customer, read);
    if (ordinary !== null) return ordinary;
    const permit = acquire(this.#long, response, customer, LONGEST_ANSWER_BYTES);
    await permit.granted;
    return resized(permit, await read(Number.POSITIVE_INFINITY));
  }

  /** Answers a request that changes something. `bodyBytes` is the size of its body. */
  async change<A extends RenderedAnswer>(
    response: ServerResponse,
    customer: string,
    bodyBytes: number,
    act: () => Promise<A>,
  ): Promise<A> {
    const permit =
      bodyBytes > SMALL_BODY_BYTES_MAX
        ? acquire(this.#changes, response, customer, bodyBytes)
        : acquire(this.#ordinary, response, customer, ORDINARY_ANSWER_BYTES);
    await permit.granted;
    return resized(permit, await act());
  }

  /** Returns null for a long answer. Nothing of it stays in memory while it waits to be read again. */
  async #readOrdinary(
    response: ServerResponse,
    customer: string,
    read: ReadAnswer,
  ): Promise<RenderedAnswer | null> {
    const permit = acquire(this.#ordinary, response, customer, ORDINARY_ANSWER_BYTES);
    await permit.granted;
    try {
      const answer = await read(ORDINARY_ANSWER_BYTES);
      if (bytesIn(answer) <= ORDINARY_ANSWER_BYTES) return resized(permit, answer);
    } catch (error) {
      if (!(error instanceof AnswerTooLong)) throw error;
    }
    permit.release();
    return null;
  }
}

/** The permit is released when the client has received the answer or has disconnected. */
function acquire(budget: ByteBudget, response: ServerResponse, customer: string, bytes: number): BytePermit {
  const permit = budget.acquire(customer, bytes);
  response.once('close', () => permit.release());
  if (response.closed) permit.release();
  return permit;
}

/** Shrinks or grows the permit to the real size of the answer. */
function resized<A extends RenderedAnswer>(permit: BytePermit, answer: A): A {
  permit.resize(bytesIn(answer));
  return answer;
}

function bytesIn({ body }: RenderedAnswer): number {
  return Buffer.byteLength(body);
}
