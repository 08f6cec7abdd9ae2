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

/** The verbs of one call are sent together, share a commit, and are answered together. */
interface Call {
  readonly verbs: Batch;
  readonly resolve: (answers: readonly ('done' | Rejection)[]) => void;
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
  #waiting: Call[] = [];
  /** The verbs of the calls that wait. */
  #waitingVerbs = 0;
  /** Calls that were sent and not answered, oldest first. */
  readonly #inFlight: Call[] = [];
  #verbsInFlight = 0;
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

  /** One promise, because this is the way of every create. */
  run<A extends Rejection>(steps: readonly SqliteStep[]): Promise<'done' | A> {
    return new Promise((resolve, reject) => {
      this.#add({ verbs: [steps], resolve: ([answer = 'done']) => resolve(answer as 'done' | A), reject });
    });
  }

  runAll<A extends Rejection>(verbs: Batch): Promise<readonly ('done' | A)[]> {
    return new Promise((resolve, reject) => {
      this.#add({ verbs, resolve: (answers) => resolve(answers as readonly ('done' | A)[]), reject });
    });
  }

  #add(call: Call): void {
    if (this.#isClosed) throw new StoreUnavailable('The store is closed.');
    if (this.#waitingVerbs + this.#verbsInFlight >= WAITING_MAX) {
      throw new StoreUnavailable('Too many writes are waiting for the disk.');
    }
    if (call.verbs.length === 0) {
      call.resolve([]);
      return;
    }
    this.#waiting.push(call);
    this.#waitingVerbs += call.verbs.length;
    if (this.#verbsInFlight === 0) this.#handOver();
    // Verbs of the same tick of the event loop are sent together.
    else if (this.#waitingVerbs >= GATHERED_MIN) queueMicrotask(() => this.#handOver());
  }

  #handOver(): void {
    const calls = this.#waiting;
    if (calls.length === 0) return;
    this.#waiting = [];
    this.#waitingVerbs = 0;
    try {
      const verbs = calls.flatMap((call) => call.verbs);
      this.#thread.post(encodeBatch(verbs));
      this.#inFlight.push(...calls);
      this.#verbsInFlight += verbs.length;
    } catch (error) {
      const failure = new Error('A store verb cannot be handed over.', { cause: error });
      for (const { reject } of calls) reject(failure);
    }
  }

  /** Takes the answers to one commit, which may cover several messages. */
  #settle(answers: readonly Answer[]): void {
    this.isFailing = answers.some((answer) => typeof answer !== 'string' && answer.unavailable);
    const done = this.#takeAnswered(answers.length);
    this.#handOver();
    let at = 0;
    for (const { verbs, resolve, reject } of done) {
      const own = answered(answers.slice(at, at + verbs.length));
      at += verbs.length;
      if (own instanceof Error) reject(own);
      else resolve(own);
    }
  }

  /** Takes the oldest calls, which have this many verbs together. */
  #takeAnswered(verbs: number): readonly Call[] {
    this.#verbsInFlight -= verbs;
    let calls = 0;
    for (let left = verbs; left > 0; calls++) left -= this.#inFlight[calls]?.verbs.length ?? left;
    return this.#inFlight.splice(0, calls);
  }

  /** Verbs in flight may or may not be stored. The callers have to find out. */
  #ended(error: unknown): void {
    this.isFailing = true;
    const lost = [...this.#inFlight.splice(0), ...this.#waiting.splice(0)];
    this.#waitingVerbs = 0;
    this.#verbsInFlight = 0;
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
