/**
 * Group commit. While the connection is busy with a transaction, verbs wait here, and then share the next one. They
 * run in the order in which they came. Under load many verbs share a round trip and a commit, and a single verb is
 * sent at once. Verbs that cannot share a transaction (`stages.ts`) run in one after another.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Rejection } from '#src/store/sql/steps.ts';
import { unavailableInstead } from './errors.ts';
import type { Answer, Executor } from './executor.ts';
import type { Verb } from './stages.ts';

const BATCH_MAX = 256;
/** Counts texts and sealed bytes, which are copied several times on the way. */
const BATCH_CHARACTERS_MAX = 4_194_304;
/** When more than this are waiting, the database is too slow. New writes are refused, so memory does not grow. */
const WAITING_MAX = 20_000;
const WAITING_CHARACTERS_MAX = 67_108_864;

/** The verbs of one call. When the database fails, all of them fail. */
interface Waiting {
  readonly verbs: readonly Verb[];
  readonly characters: number;
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
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new StoreUnavailable('The store is closed.'));
      if (this.#waiting.length >= WAITING_MAX || this.#waitingCharacters > WAITING_CHARACTERS_MAX) {
        return reject(new StoreUnavailable('Too many writes are waiting for the database.'));
      }
      if (verbs.length === 0) return resolve([]);
      const characters = verbs.reduce((sum, verb) => sum + charactersOf(verb), 0);
      this.#waiting.push({ verbs, characters, resolve: resolve as Waiting['resolve'], reject });
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
      if (calls > 0 && (verbs > BATCH_MAX || withThis > BATCH_CHARACTERS_MAX)) break;
      characters = withThis;
      calls++;
    }
    this.#waitingCharacters -= characters;
    return this.#waiting.splice(0, calls);
  }

  async #batch(calls: readonly Waiting[]): Promise<void> {
    const unanswered = [...calls];
    let verbs = calls.flatMap((call) => call.verbs);
    const answers: Answer[] = [];
    try {
      while (verbs.length > 0) {
        const some = await this.#executor.run(verbs);
        verbs = verbs.slice(some.length);
        answers.push(...some);
        for (
          let [call] = unanswered;
          call !== undefined && call.verbs.length <= answers.length;
          [call] = unanswered
        ) {
          answer(call, answers.splice(0, call.verbs.length));
          unanswered.shift();
        }
      }
    } catch (error) {
      for (const { reject } of unanswered) reject(unavailableInstead(error));
    }
  }
}

function answer({ resolve, reject }: Waiting, answers: readonly Answer[]): void {
  const failure = answers.find((one) => one instanceof Error);
  if (failure !== undefined) reject(failure);
  else resolve(answers.filter(isAnswer));
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
