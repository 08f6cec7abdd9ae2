/**
 * Group commit. While the connection is busy with a transaction, verbs wait here, and then share the next one. They
 * run in the order in which they came. Under load many verbs share a round trip and a commit, and a single verb is
 * sent at once. A cold verb runs alone, in its turn.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Rejection } from '#src/store/sql/steps.ts';
import { unavailableInstead } from './errors.ts';
import type { Answer, Executor } from './executor.ts';
import { isCold, type Verb } from './stages.ts';

const BATCH_MAX = 256;
/** Counts texts and sealed bytes, which are copied several times on the way. */
const BATCH_CHARACTERS_MAX = 4_194_304;
/** When more than this are waiting, the database is too slow. New writes are refused, so memory does not grow. */
const WAITING_MAX = 20_000;
const WAITING_CHARACTERS_MAX = 67_108_864;

/** The verbs of one call. They share a transaction, so a failing database fails all of them. */
interface Waiting {
  readonly verbs: readonly Verb[];
  readonly characters: number;
  /** Whether the call is one cold verb, which shares its transaction with no other. */
  readonly isAlone: boolean;
  readonly resolve: (answers: readonly ('done' | Rejection)[]) => void;
  readonly reject: (error: unknown) => void;
}

export class WriteQueue {
  readonly #executor: Executor;
  #waiting: Waiting[] = [];
  #waitingCharacters = 0;
  #isBusy = false;
  #isClosed = false;
  #whenIdle: (() => void)[] = [];

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  /** Runs a verb. The result is `done` or one of the rejections of its steps. */
  async run<A extends Rejection>(verb: Verb): Promise<'done' | A> {
    const [answer = 'done'] = await this.runAll<A>([verb]);
    return answer;
  }

  /** Runs independent verbs, and returns the result of each. */
  runAll<A extends Rejection>(verbs: readonly Verb[]): Promise<readonly ('done' | A)[]> {
    if (verbs.length > 1 && verbs.some(isCold)) return Promise.all(verbs.map((verb) => this.run<A>(verb)));
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new StoreUnavailable('The store is closed.'));
      if (this.#waiting.length >= WAITING_MAX || this.#waitingCharacters > WAITING_CHARACTERS_MAX) {
        return reject(new StoreUnavailable('Too many writes are waiting for the database.'));
      }
      const characters = verbs.reduce((sum, verb) => sum + charactersOf(verb), 0);
      const isAlone = verbs.some(isCold);
      this.#waiting.push({ verbs, characters, isAlone, resolve: resolve as Waiting['resolve'], reject });
      this.#waitingCharacters += characters;
      if (!this.#isBusy) void this.#work();
    });
  }

  /** Resolves when all waiting verbs are written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#isBusy) await new Promise<void>((resolve) => void this.#whenIdle.push(resolve));
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    // Verbs of the same tick of the event loop share the batch.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#batch(this.#take());
    this.#isBusy = false;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #take(): readonly Waiting[] {
    let calls = 0;
    let verbs = 0;
    let characters = 0;
    for (const waiting of this.#waiting) {
      verbs += waiting.verbs.length;
      const withThis = characters + waiting.characters;
      if (calls > 0 && waiting.isAlone) break;
      if (calls > 0 && (verbs > BATCH_MAX || withThis > BATCH_CHARACTERS_MAX)) break;
      characters = withThis;
      calls++;
      if (waiting.isAlone) break;
    }
    this.#waitingCharacters -= characters;
    return this.#waiting.splice(0, calls);
  }

  async #batch(calls: readonly Waiting[]): Promise<void> {
    try {
      const answers = await this.#executor.run(calls.flatMap(({ verbs }) => verbs));
      let at = 0;
      for (const { verbs, resolve, reject } of calls) {
        const own = answers.slice(at, at + verbs.length);
        at += verbs.length;
        const failure = own.find((answer) => answer instanceof Error);
        if (failure !== undefined) reject(failure);
        else resolve(own.filter(isAnswer));
      }
    } catch (error) {
      for (const { reject } of calls) reject(unavailableInstead(error));
    }
  }
}

function charactersOf(verb: Verb): number {
  let characters = 0;
  for (const step of verb) {
    for (const value of step) {
      if (typeof value === 'string' || value instanceof Uint8Array) characters += value.length;
    }
  }
  return characters;
}

function isAnswer(answer: Answer): answer is 'done' | Rejection {
  return typeof answer === 'string';
}
