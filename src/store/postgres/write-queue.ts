/**
 * Group commit: verbs wait here while the connection is busy with a transaction, and go out together as the next
 * one. They are carried out in the order in which they were asked for. Under load many share a round trip and a
 * commit; a lone one goes at once.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Rejection } from '#src/store/sql/steps.ts';
import type { Answer, Executor } from './executor.ts';
import { unavailableInstead } from './faults.ts';
import type { Verb } from './stages.ts';

const BATCH_MAX = 256;
/** Of texts and sealed bytes: they are copied a few times on their way. */
const BATCH_CHARACTERS_MAX = 4_194_304;
/** More than this waiting means that the database cannot keep up: refuse rather than grow. */
const WAITING_MAX = 20_000;
const WAITING_CHARACTERS_MAX = 67_108_864;

/** Verbs asked for in one call: they share a transaction, so that a database that fails fails them all. */
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

  /** Runs a verb; its answer is one of those its steps can give. */
  async run<A extends Rejection>(verb: Verb): Promise<'done' | A> {
    const [answer = 'done'] = await this.runAll<A>([verb]);
    return answer;
  }

  /** Runs verbs that are independent of each other and answers each. */
  runAll<A extends Rejection>(verbs: readonly Verb[]): Promise<readonly ('done' | A)[]> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new StoreUnavailable('The store is closed.'));
      if (this.#waiting.length >= WAITING_MAX || this.#waitingCharacters > WAITING_CHARACTERS_MAX) {
        return reject(new StoreUnavailable('Too many writes are waiting for the database.'));
      }
      const characters = verbs.reduce((sum, verb) => sum + charactersOf(verb), 0);
      this.#waiting.push({ verbs, characters, resolve: resolve as Waiting['resolve'], reject });
      this.#waitingCharacters += characters;
      if (!this.#isBusy) void this.#work();
    });
  }

  /** Lets what is waiting be written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#isBusy) await new Promise<void>((resolve) => void this.#whenIdle.push(resolve));
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    // What is asked for in this same turn of the loop goes along.
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
