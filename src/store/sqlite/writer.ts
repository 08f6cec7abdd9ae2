/**
 * Group commit, seen from the service: verbs wait here while the writing thread is busy with a batch, and
 * go out together as the next one. Under load many share a commit; a lone one goes at once.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Otherwise } from '#src/store/sql/verbs.ts';
import type { Answer, Batch, SqliteStep, WriterData } from './executor.ts';

const BATCH_MAX = 256;
/** More than this waiting means that the disk cannot keep up: refuse rather than grow. */
const WAITING_MAX = 20_000;

/** Verbs asked for in one call: they go in one batch, so that a disk that fails fails them all. */
interface Waiting {
  readonly verbs: Batch;
  readonly resolve: (answers: readonly ('done' | Otherwise)[]) => void;
  readonly reject: (error: Error) => void;
}

/** Whom verbs are handed to. */
export interface WriteQueue {
  /** Whether the disk refused what was written last. */
  readonly isFailing: boolean;
  /** Runs a verb; its answer is one of those its steps can give. */
  run<A extends Otherwise>(steps: readonly SqliteStep[]): Promise<'done' | A>;
  /** Runs verbs that are independent of each other and answers each. They are never parted, however many. */
  runAll<A extends Otherwise>(verbs: Batch): Promise<readonly ('done' | A)[]>;
  /** Lets what is waiting be written, then closes the file. */
  close(): Promise<void>;
}

export type OpenWriter = (data: WriterData) => Promise<WriteQueue>;

/** What one call is answered, or the error it fails with. */
export function answered(answers: readonly Answer[]): readonly ('done' | Otherwise)[] | Error {
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
  #underWay: readonly Waiting[] = [];
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
    worker.on('message', (answers: readonly Answer[]) => this.#settle(answers));
    worker.on('error', (error) => this.#ended(worker, error));
    worker.on('exit', () => this.#ended(worker));
    return worker;
  }

  /** What it was working on may be stored or not: whoever asked has to look. */
  #ended(worker: Worker, error?: unknown): void {
    if (this.#closed !== null || worker !== this.#worker) return;
    this.#isFailing = true;
    const lost = [...this.#underWay, ...this.#waiting];
    this.#underWay = [];
    this.#waiting = [];
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

  async run<A extends Otherwise>(steps: readonly SqliteStep[]): Promise<'done' | A> {
    const [answer = 'done'] = await this.runAll<A>([steps]);
    return answer;
  }

  runAll<A extends Otherwise>(verbs: Batch): Promise<readonly ('done' | A)[]> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== null) return reject(this.#closed);
      if (this.#isDown) {
        void this.#startAgain();
        return reject(new StoreUnavailable('The writing thread is being started again.'));
      }
      if (this.#waiting.length >= WAITING_MAX) {
        return reject(new StoreUnavailable('Too many writes are waiting for the disk.'));
      }
      this.#waiting.push({ verbs, resolve: resolve as Waiting['resolve'], reject });
      this.#send();
    });
  }

  #send(): void {
    if (this.#underWay.length > 0 || this.#waiting.length === 0) return;
    let calls = 0;
    let verbs = 0;
    for (const waiting of this.#waiting) {
      verbs += waiting.verbs.length;
      if (calls > 0 && verbs > BATCH_MAX) break;
      calls++;
    }
    this.#underWay = this.#waiting.splice(0, calls);
    this.#worker.postMessage(this.#underWay.flatMap((call) => call.verbs));
  }

  #settle(answers: readonly Answer[]): void {
    const done = this.#underWay;
    this.#underWay = [];
    this.#isFailing = answers.some((answer) => typeof answer !== 'string' && answer.unavailable);
    this.#send();
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
    while (this.#underWay.length > 0 || this.#waiting.length > 0) {
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
