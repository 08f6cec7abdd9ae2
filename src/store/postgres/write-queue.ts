/**
 * Group commit. While the connection is busy with a transaction, verbs wait here, and then share the next one. They
 * run in the order in which they came. Under load many verbs share a round trip and a commit, and a single verb is
 * sent at once. Verbs that cannot share a transaction (`stages.ts`) run in one after another.
 *
 * The verbs of a call stay together, and the call is answered after the last of them. When a call fails, none of its
 * verbs is waiting, so its caller can look at what is stored.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { SqlWriter } from '#src/store/sql/dialect.ts';
import type { Rejection } from '#src/store/sql/steps.ts';
import { unavailableInstead } from './errors.ts';
import type { Executor } from './executor.ts';
import type { Verb } from './stages.ts';

const BATCH_MAX = 256;
/** Counts texts and sealed bytes, which are copied several times on the way. */
const BATCH_CHARACTERS_MAX = 4_194_304;
/** When more than this are waiting, the database is too slow. New writes are refused, so memory does not grow. */
const WAITING_MAX = 20_000;
const WAITING_CHARACTERS_MAX = 67_108_864;

interface Waiting {
  readonly verb: Verb;
  readonly characters: number;
  /** Whether no other verb of its call follows. */
  readonly isLast: boolean;
  readonly resolve: (answer: 'done' | Rejection) => void;
  readonly reject: (error: unknown) => void;
}

export class WriteQueue implements SqlWriter {
  readonly #executor: Executor;
  #waiting: Waiting[] = [];
  #waitingCharacters = 0;
  #working: Promise<void> | null = null;
  #isClosed = false;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  /** Does not wait for `runAll`, because every promise in between is a cost on every create. */
  run<A extends Rejection>(verb: Verb): Promise<'done' | A> {
    const refusal = this.#refusal();
    return refusal === null ? (this.#add(verb, true) as Promise<'done' | A>) : Promise.reject(refusal);
  }

  async runAll<A extends Rejection>(verbs: readonly Verb[]): Promise<readonly ('done' | A)[]> {
    const refusal = this.#refusal();
    if (refusal !== null) throw refusal;
    const answers = await Promise.allSettled(
      verbs.map((verb, index) => this.#add(verb, index === verbs.length - 1) as Promise<'done' | A>),
    );
    return answers.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value;
    });
  }

  /** Resolves when all waiting verbs are written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
  }

  /** Why no verb is taken now; null if verbs are taken. */
  #refusal(): StoreUnavailable | null {
    if (this.#isClosed) return new StoreUnavailable('The store is closed.');
    if (this.#waiting.length >= WAITING_MAX || this.#waitingCharacters > WAITING_CHARACTERS_MAX) {
      return new StoreUnavailable('Too many writes are waiting for the database.');
    }
    return null;
  }

  #add(verb: Verb, isLast: boolean): Promise<'done' | Rejection> {
    return new Promise((resolve, reject) => {
      const characters = charactersOf(verb);
      this.#waiting.push({ verb, characters, isLast, resolve, reject });
      this.#waitingCharacters += characters;
      this.#working ??= this.#work();
    });
  }

  async #work(): Promise<void> {
    // Verbs of the same tick of the event loop share the batch.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#batch(this.#take());
    this.#working = null;
  }

  /** Takes as many calls as fit, and at least one. */
  #take(): readonly Waiting[] {
    let characters = 0;
    let taken = { verbs: 0, characters: 0 };
    for (const [index, waiting] of this.#waiting.entries()) {
      characters += waiting.characters;
      if (taken.verbs > 0 && (index >= BATCH_MAX || characters > BATCH_CHARACTERS_MAX)) break;
      if (waiting.isLast) taken = { verbs: index + 1, characters };
    }
    this.#waitingCharacters -= taken.characters;
    return this.#waiting.splice(0, taken.verbs);
  }

  async #batch(batch: readonly Waiting[]): Promise<void> {
    let left = batch;
    try {
      while (left.length > 0) {
        const answers = await this.#executor.run(left.map(({ verb }) => verb));
        for (const [index, answer] of answers.entries()) {
          if (answer instanceof Error) left[index]?.reject(answer);
          else left[index]?.resolve(answer);
        }
        left = left.slice(answers.length);
      }
    } catch (error) {
      for (const { reject } of left) reject(unavailableInstead(error));
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
