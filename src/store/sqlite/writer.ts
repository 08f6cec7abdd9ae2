/**
 * Group commit, as the service sees it. A single verb is sent to the writing thread at once. While the thread is
 * busy, verbs are collected; they are sent when there are a few, or when the thread has answered. All that the
 * thread finds waiting shares one commit. The thread therefore never waits for more work, and many verbs share a
 * message.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Rejection } from '#src/store/sql/steps.ts';
import { encodeBatch } from './batch-encoding.ts';
import type { Answer, Batch, SqliteStep, WriterData } from './executor.ts';

/** A busy thread gets no fewer verbs than this in a message. */
const GATHERED_MIN = 16;
/** When more than this are waiting, the disk is too slow. New writes are refused, so memory does not grow. */
const WAITING_MAX = 20_000;

/** The verbs of one call. They share a batch, so a failing disk fails all of them. */
interface Waiting {
  readonly verbs: Batch;
  readonly resolve: (answers: readonly ('done' | Rejection)[]) => void;
  readonly reject: (error: Error) => void;
}

/** Takes verbs and writes them. */
export interface WriteQueue {
  /** Whether the last write failed because of the disk. */
  readonly isFailing: boolean;
  /** Runs a verb. The result is `done` or one of the rejections of its steps. */
  run<A extends Rejection>(steps: readonly SqliteStep[]): Promise<'done' | A>;
  /** Runs independent verbs in one batch, and returns the result of each. */
  runAll<A extends Rejection>(verbs: Batch): Promise<readonly ('done' | A)[]>;
  /** Writes what is waiting, then closes the file. */
  close(): Promise<void>;
}

export type OpenWriter = (data: WriterData) => Promise<WriteQueue>;

/** The results of one call, or the error that it fails with. */
export function answered(answers: readonly Answer[]): readonly ('done' | Rejection)[] | Error {
  const failed = answers.find((answer) => typeof answer !== 'string');
  if (failed === undefined) return answers.filter((answer) => typeof answer === 'string');
  if (failed.unavailable) return new StoreUnavailable(`SQLite: ${failed.failed}.`);
  return new Error(`A store verb failed: ${failed.failed}.`);
}

/** The queue of the writing thread. When the thread dies, the next verb starts another. */
export class Writer implements WriteQueue {
  readonly #data: WriterData;
  #worker: Worker;
  #isDown = false;
  #isStarting = false;
  #waiting: Waiting[] = [];
  #waitingVerbs = 0;
  /** Calls that were sent and not answered, oldest first, grouped by message. */
  #inFlight: (readonly Waiting[])[] = [];
  /** The number of calls that wait or were sent. */
  #open = 0;
  #closed: Error | null = null;
  #isFailing = false;

  get isFailing(): boolean {
    return this.#isFailing;
  }

  private constructor(data: WriterData, worker: Worker) {
    this.#data = data;
    this.#worker = this.#attend(worker);
  }

  static async open(data: WriterData): Promise<Writer> {
    return new Writer(data, await startThread(data));
  }

  #attend(worker: Worker): Worker {
    worker.on('message', (answers: readonly Answer[]) => {
      // A thread that has ended may still answer calls that were failed already.
      if (worker === this.#worker && !this.#isDown) this.#settle(answers);
    });
    worker.on('error', (error) => this.#ended(worker, error));
    worker.on('exit', () => this.#ended(worker));
    return worker;
  }

  /** Verbs in flight may or may not be stored. The callers have to find out. */
  #ended(worker: Worker, error?: unknown): void {
    if (this.#closed !== null || worker !== this.#worker) return;
    this.#isFailing = true;
    const lost = [...this.#inFlight.flat(), ...this.#waiting];
    this.#inFlight = [];
    this.#waiting = [];
    this.#waitingVerbs = 0;
    this.#open = 0;
    this.#isDown = true;
    for (const { reject } of lost) {
      reject(new StoreUnavailable('The writing thread ended.', { cause: error }));
    }
  }

  async #startAgain(): Promise<void> {
    if (this.#isStarting) return;
    this.#isStarting = true;
    try {
      const worker = await startThread(this.#data);
      this.#worker = this.#attend(worker);
      this.#isDown = false;
    } catch {
      // The next caller tries again.
    } finally {
      this.#isStarting = false;
    }
  }

  async run<A extends Rejection>(steps: readonly SqliteStep[]): Promise<'done' | A> {
    const [answer = 'done'] = await this.runAll<A>([steps]);
    return answer;
  }

  runAll<A extends Rejection>(verbs: Batch): Promise<readonly ('done' | A)[]> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== null) return reject(this.#closed);
      if (this.#isDown) {
        void this.#startAgain();
        return reject(new StoreUnavailable('The writing thread is being started again.'));
      }
      if (this.#open >= WAITING_MAX) {
        return reject(new StoreUnavailable('Too many writes are waiting for the disk.'));
      }
      if (verbs.length === 0) return resolve([]);
      this.#waiting.push({ verbs, resolve: resolve as Waiting['resolve'], reject });
      this.#waitingVerbs += verbs.length;
      this.#open++;
      if (this.#inFlight.length === 0) this.#handOver();
      // Verbs of the same tick of the event loop are sent together.
      else if (this.#waitingVerbs >= GATHERED_MIN) queueMicrotask(() => this.#handOver());
    });
  }

  #handOver(): void {
    const calls = this.#waiting;
    if (calls.length === 0) return;
    this.#waiting = [];
    this.#waitingVerbs = 0;
    try {
      this.#worker.postMessage(encodeBatch(calls.flatMap((call) => call.verbs)));
      this.#inFlight.push(calls);
    } catch (error) {
      this.#open -= calls.length;
      for (const { reject } of calls)
        reject(new Error('A store verb cannot be handed over.', { cause: error }));
    }
  }

  /** Takes the answers to one commit, which may cover several messages. */
  #settle(answers: readonly Answer[]): void {
    this.#isFailing = answers.some((answer) => typeof answer !== 'string' && answer.unavailable);
    const done: Waiting[] = [];
    for (let verbs = 0; verbs < answers.length && this.#inFlight.length > 0; ) {
      const calls = this.#inFlight.shift() ?? [];
      for (const call of calls) verbs += call.verbs.length;
      done.push(...calls);
    }
    this.#open -= done.length;
    this.#handOver();
    let at = 0;
    for (const { verbs, resolve, reject } of done) {
      const own = answered(answers.slice(at, at + verbs.length));
      at += verbs.length;
      if (own instanceof Error) reject(own);
      else resolve(own);
    }
  }

  async close(): Promise<void> {
    if (this.#closed !== null) return;
    const exited = this.#isDown ? null : once(this.#worker, 'exit');
    while (this.#open > 0) {
      await Promise.race([once(this.#worker, 'message'), exited]);
    }
    this.#closed = new StoreUnavailable('The store is closed.');
    this.#worker.postMessage('close');
    await exited;
  }
}

async function startThread(data: WriterData): Promise<Worker> {
  const worker = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: data });
  const exited = once(worker, 'exit').then(() => {
    throw new StoreUnavailable('The writing thread could not start.');
  });
  exited.catch(() => {});
  await Promise.race([once(worker, 'message'), exited]);
  return worker;
}
