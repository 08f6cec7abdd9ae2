/**
 * Group commit, as the service sees it. A single verb is sent to the writing thread at once. While the thread is
 * busy, verbs are collected; they are sent when there are a few, or when the thread has answered. All that the
 * thread finds waiting shares one commit. The thread therefore never waits for more work, and many verbs share a
 * message.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { SqlWriter } from '#src/store/sql/dialect.ts';
import type { Rejection } from '#src/store/sql/steps.ts';
import { type EncodedBatch, encodeBatch } from './batch-encoding.ts';
import { errorOf } from './errors.ts';
import type { Answer, Batch, SqliteStep, WriterData } from './executor.ts';
import { Thread } from './thread.ts';

/** A busy thread gets no fewer verbs than this in a message. */
const GATHERED_MIN = 16;
/** When more than this are waiting, the disk is too slow. New writes are refused, so memory does not grow. */
const WAITING_MAX = 20_000;

interface Waiting {
  readonly verb: readonly SqliteStep[];
  readonly resolve: (answer: 'done' | Rejection) => void;
  readonly reject: (error: Error) => void;
}

/** Takes verbs and writes them. */
export interface WriteQueue extends SqlWriter {
  /** Whether the last write failed because of the disk. */
  readonly isFailing: boolean;
  run<A extends Rejection>(steps: readonly SqliteStep[]): Promise<'done' | A>;
  runAll<A extends Rejection>(verbs: Batch): Promise<readonly ('done' | A)[]>;
  /** Writes what is waiting, then closes the file. */
  close(): Promise<void>;
}

export type OpenWriter = (data: WriterData) => Promise<WriteQueue>;

/** The results of one call, or the error that it fails with. */
export function answered(answers: readonly Answer[]): readonly ('done' | Rejection)[] | Error {
  const failed = answers.find((answer) => typeof answer !== 'string');
  if (failed !== undefined) return errorOf(failed, 'A store verb');
  return answers.filter((answer) => typeof answer === 'string');
}

/** The queue of the writing thread. When the thread dies, the next verb starts another. */
export class Writer implements WriteQueue {
  readonly #thread: Thread<EncodedBatch, readonly Answer[]>;
  #waiting: Waiting[] = [];
  /** Verbs that were sent and not answered, oldest first. */
  #inFlight: Waiting[] = [];
  #isClosed = false;
  isFailing = false;

  constructor(data: WriterData) {
    this.#thread = new Thread({
      file: new URL('./writer-thread.ts', import.meta.url),
      workerData: data,
      onAnswer: (answers) => this.#settle(answers),
      onEnd: (error) => this.#ended(error),
    });
  }

  /** Fails if the thread cannot write. */
  static async open(this: void, data: WriterData): Promise<Writer> {
    const writer = new Writer(data);
    try {
      await writer.run([]);
      return writer;
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  async run<A extends Rejection>(steps: readonly SqliteStep[]): Promise<'done' | A> {
    const [answer = 'done'] = await this.runAll<A>([steps]);
    return answer;
  }

  async runAll<A extends Rejection>(verbs: Batch): Promise<readonly ('done' | A)[]> {
    if (this.#isClosed) throw new StoreUnavailable('The store is closed.');
    if (this.#waiting.length + this.#inFlight.length >= WAITING_MAX) {
      throw new StoreUnavailable('Too many writes are waiting for the disk.');
    }
    const answers = verbs.map((verb) => {
      const { promise, resolve, reject } = Promise.withResolvers<'done' | Rejection>();
      this.#waiting.push({ verb, resolve, reject });
      return promise as Promise<'done' | A>;
    });
    if (this.#inFlight.length === 0) this.#handOver();
    // Verbs of the same tick of the event loop are sent together.
    else if (this.#waiting.length >= GATHERED_MIN) queueMicrotask(() => this.#handOver());
    return Promise.all(answers);
  }

  #handOver(): void {
    const verbs = this.#waiting;
    if (verbs.length === 0) return;
    this.#waiting = [];
    try {
      this.#thread.post(encodeBatch(verbs.map(({ verb }) => verb)));
      for (const verb of verbs) this.#inFlight.push(verb);
    } catch (error) {
      const failure = new Error('A store verb cannot be handed over.', { cause: error });
      for (const { reject } of verbs) reject(failure);
    }
  }

  /** Takes the answers to one commit, which may cover several messages. */
  #settle(answers: readonly Answer[]): void {
    this.isFailing = answers.some((answer) => typeof answer !== 'string' && answer.unavailable);
    const done = this.#inFlight.splice(0, answers.length);
    this.#handOver();
    for (const [index, { resolve, reject }] of done.entries()) {
      const answer = answers[index] ?? 'done';
      if (typeof answer === 'string') resolve(answer);
      else reject(errorOf(answer, 'A store verb'));
    }
  }

  /** Verbs in flight may or may not be stored. The callers have to find out. */
  #ended(error: unknown): void {
    this.isFailing = true;
    const lost = [...this.#inFlight.splice(0), ...this.#waiting.splice(0)];
    for (const { reject } of lost) {
      reject(new StoreUnavailable('The writing thread ended.', { cause: error }));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#handOver();
    await this.#thread.close();
  }
}
