/**
 * Group commit, seen from the service. A lone verb goes to the writing thread at once. While that is busy verbs
 * are gathered, and go as soon as there are a few or it has answered; whatever it finds when it is free again
 * shares one commit. So it never waits for this thread while there is something to write, and many verbs share
 * a message.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Rejection } from '#src/store/sql/steps.ts';
import { encodeBatch } from './batch-encoding.ts';
import type { Answer, Batch, SqliteStep, WriterData } from './executor.ts';

/** A busy thread is sent no fewer verbs than these. */
const GATHERED_MIN = 16;
/** More than this waiting means that the disk cannot keep up: refuse rather than grow. */
const WAITING_MAX = 20_000;

/** Verbs asked for in one call: they go in one batch, so that a disk that fails fails them all. */
interface Waiting {
  readonly verbs: Batch;
  readonly resolve: (answers: readonly ('done' | Rejection)[]) => void;
  readonly reject: (error: Error) => void;
}

/** Whom verbs are handed to. */
export interface WriteQueue {
  /** Whether the disk refused what was written last. */
  readonly isFailing: boolean;
  /** Runs a verb; its answer is one of those its steps can give. */
  run<A extends Rejection>(steps: readonly SqliteStep[]): Promise<'done' | A>;
  /** Runs verbs that are independent of each other and answers each. They are never parted, however many. */
  runAll<A extends Rejection>(verbs: Batch): Promise<readonly ('done' | A)[]>;
  /** Lets what is waiting be written, then closes the file. */
  close(): Promise<void>;
}

export type OpenWriter = (data: WriterData) => Promise<WriteQueue>;

/** What one call is answered, or the error it fails with. */
export function answered(answers: readonly Answer[]): readonly ('done' | Rejection)[] | Error {
  const failed = answers.find((answer) => typeof answer !== 'string');
  if (failed === undefined) return answers.filter((answer) => typeof answer === 'string');
  if (failed.unavailable) return new StoreUnavailable(`SQLite: ${failed.failed}.`);
  return new Error(`A store verb failed: ${failed.failed}.`);
}

/** The writing thread's queue. A thread that ended by itself is replaced by another as soon as it is needed. */
export class Writer implements WriteQueue {
  readonly #data: WriterData;
  #worker: Worker;
  #isDown = false;
  #isStarting = false;
  #waiting: Waiting[] = [];
  #waitingVerbs = 0;
  /** Handed over and not answered yet, the oldest first; by message. */
  #inFlight: (readonly Waiting[])[] = [];
  /** Calls in both. */
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
      // One that has ended speaks of what was given up.
      if (worker === this.#worker && !this.#isDown) this.#settle(answers);
    });
    worker.on('error', (error) => this.#ended(worker, error));
    worker.on('exit', () => this.#ended(worker));
    return worker;
  }

  /** What it was working on may be stored or not: whoever asked has to look. */
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
      // The next one who needs it tries again.
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
      // What is asked for in this same turn of the loop goes along.
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

  /** Of one commit, and so of all verbs of one or more messages. */
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
