/**
 * Group commit. While the connection is busy with a transaction, verbs wait here, and then share the next one. They
 * run in the order in which they came. Under load many verbs share a round trip and a commit, and a single verb is
 * sent at once. Verbs that cannot share a transaction (`stages.ts`) run in one after another.
 *
 * On Citus every transaction is about one partition. The verbs of each partition then wait in a line of their own, and
 * several connections take turns. A line has one transaction at a time, so its verbs keep their order.
 *
 * The verbs of a call stay together in their line, and the call is answered after the last of them. When a call fails,
 * none of its verbs is waiting, so its caller can look at what is stored.
 */
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { SqlWriter } from '#src/store/sql/dialect.ts';
import type { Rejection } from '#src/store/sql/steps.ts';
import { unavailableInstead } from './errors.ts';
import type { Executor } from './executor.ts';
import type { Verb } from './stages.ts';

/** Each project has a test and a live mode, with partitions of their own. */
const MODES = 2;
const BATCH_MAX = 256;
/** Counts texts and sealed bytes, which are copied several times on the way. */
const BATCH_CHARACTERS_MAX = 4_194_304;
/** When more than this are waiting, the database is too slow. New writes are refused, so memory does not grow. */
const WAITING_MAX = 20_000;
const WAITING_CHARACTERS_MAX = 67_108_864;

interface Waiting {
  readonly verb: Verb;
  readonly characters: number;
  /** Whether no other verb of its call follows in this line. */
  readonly isLast: boolean;
  readonly resolve: (answer: 'done' | Rejection) => void;
  readonly reject: (error: unknown) => void;
}

/** The partition that the transactions of a line are about; null if they need not be about one. */
type Line = Partition | null;

export class WriteQueue implements SqlWriter {
  readonly #executors: readonly Executor[];
  /** Executors without a transaction. */
  readonly #idle: Executor[];
  readonly #lineOf: (verb: Verb) => Line;
  /** The line that has waited longest is first. */
  readonly #lines = new Map<Line, Waiting[]>();
  /** Lines with a transaction. */
  readonly #busy = new Set<Line>();
  #waiting = 0;
  #waitingCharacters = 0;
  #isStarting = false;
  #isClosed = false;
  readonly #ended = Promise.withResolvers<void>();

  constructor(executors: readonly Executor[], lineOf: (verb: Verb) => Line = () => null) {
    this.#executors = executors;
    this.#idle = [...executors];
    this.#lineOf = lineOf;
  }

  /** Does not wait for `runAll`, because every promise in between is a cost on every create. */
  run<A extends Rejection>(verb: Verb): Promise<'done' | A> {
    const refusal = this.#refusal();
    if (refusal !== null) return Promise.reject(refusal);
    return this.#add(this.#lineOf(verb), verb, true) as Promise<'done' | A>;
  }

  async runAll<A extends Rejection>(verbs: readonly Verb[]): Promise<readonly ('done' | A)[]> {
    const refusal = this.#refusal();
    if (refusal !== null) throw refusal;
    const lines = verbs.map(this.#lineOf);
    const lastOf = new Map(lines.map((line, index) => [line, index]));
    const answers = await Promise.allSettled(
      verbs.map((verb, index) => {
        const line = lines[index] ?? null;
        return this.#add(line, verb, lastOf.get(line) === index) as Promise<'done' | A>;
      }),
    );
    return answers.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value;
    });
  }

  /** Resolves when all waiting verbs are written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#busy.size > 0 || this.#waiting > 0) await this.#ended.promise;
  }

  /** Why no verb is taken now; null if verbs are taken. */
  #refusal(): StoreUnavailable | null {
    if (this.#isClosed) return new StoreUnavailable('The store is closed.');
    if (this.#waiting >= WAITING_MAX || this.#waitingCharacters > WAITING_CHARACTERS_MAX) {
      return new StoreUnavailable('Too many writes are waiting for the database.');
    }
    return null;
  }

  #add(line: Line, verb: Verb, isLast: boolean): Promise<'done' | Rejection> {
    return new Promise((resolve, reject) => {
      const characters = charactersOf(verb);
      const waiting = { verb, characters, isLast, resolve, reject };
      const others = this.#lines.get(line);
      if (others === undefined) this.#lines.set(line, [waiting]);
      else others.push(waiting);
      this.#waiting++;
      this.#waitingCharacters += characters;
      this.#start();
    });
  }

  /** Verbs of the same tick of the event loop share the batch. */
  #start(): void {
    if (this.#isStarting || this.#idle.length === 0) return;
    this.#isStarting = true;
    queueMicrotask(() => {
      this.#isStarting = false;
      for (const line of this.#lines.keys()) {
        if (this.#busy.has(line)) continue;
        const executor = this.#takeIdle(line);
        if (executor === undefined) return;
        void this.#work(line, executor);
      }
    });
  }

  /**
   * Prefers the same executor for each line, because its connection then knows the shards of the line. Both modes of a
   * project have neighbouring partitions, and often only one of them has work, so they share an executor.
   *
   * An executor that is not connected fails at once, so lines wait for one that is, if there is any.
   */
  #takeIdle(line: Line): Executor | undefined {
    const preferred = this.#executors[Math.floor(((line ?? 1) - 1) / MODES) % this.#executors.length];
    const index =
      preferred?.isConnected === true && this.#idle.includes(preferred)
        ? this.#idle.indexOf(preferred)
        : this.#idle.findLastIndex(({ isConnected }) => isConnected);
    if (index >= 0) return this.#idle.splice(index, 1)[0];
    return this.#executors.some(({ isConnected }) => isConnected) ? undefined : this.#idle.pop();
  }

  /** Runs the next batch of a line. The line then waits behind the others. */
  async #work(line: Line, executor: Executor): Promise<void> {
    this.#busy.add(line);
    await this.#batch(line, executor, this.#take(line));
    this.#busy.delete(line);
    this.#idle.push(executor);
    if (this.#waiting > 0) this.#start();
    else if (this.#isClosed && this.#busy.size === 0) this.#ended.resolve();
  }

  /** Takes as many calls as fit, and at least one. */
  #take(line: Line): readonly Waiting[] {
    const all = this.#lines.get(line) ?? [];
    let characters = 0;
    let taken = { verbs: 0, characters: 0 };
    for (const [index, waiting] of all.entries()) {
      characters += waiting.characters;
      if (taken.verbs > 0 && (index >= BATCH_MAX || characters > BATCH_CHARACTERS_MAX)) break;
      if (waiting.isLast) taken = { verbs: index + 1, characters };
    }
    this.#waiting -= taken.verbs;
    this.#waitingCharacters -= taken.characters;
    this.#lines.delete(line);
    if (taken.verbs === all.length) return all;
    this.#lines.set(line, all.slice(taken.verbs));
    return all.slice(0, taken.verbs);
  }

  async #batch(line: Line, executor: Executor, batch: readonly Waiting[]): Promise<void> {
    let left = batch;
    try {
      while (left.length > 0) {
        const answers = await executor.run(
          left.map(({ verb }) => verb),
          line,
        );
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
