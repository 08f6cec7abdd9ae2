/**
 * A thread that answers messages in order. The first message starts it. When it dies, the next message starts
 * another.
 */
import { once } from 'node:events';
import { Worker, type WorkerOptions } from 'node:worker_threads';

export interface ThreadOptions<Answer> extends WorkerOptions {
  /** The file that the thread runs. */
  readonly file: URL;
  readonly onAnswer: (answer: Answer) => void;
  /** The thread has died or was closed. Messages without an answer may have taken effect or not. */
  readonly onEnd: (error: unknown) => void;
}

export class Thread<Message, Answer> {
  readonly #options: ThreadOptions<Answer>;
  #worker: Worker | null = null;

  constructor(options: ThreadOptions<Answer>) {
    this.#options = options;
  }

  post(message: Message): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(message);
  }

  /** Asks the thread to end, after all messages before it. */
  async close(): Promise<void> {
    if (this.#worker === null) return;
    const exited = once(this.#worker, 'exit');
    this.#worker.postMessage('close');
    await exited;
  }

  #start(): Worker {
    const { file, onAnswer, onEnd, ...options } = this.#options;
    const worker = new Worker(file, options);
    const end = (error?: unknown) => {
      if (worker !== this.#worker) return;
      this.#worker = null;
      onEnd(error);
    };
    worker.on('message', (answer: Answer) => {
      // A thread that has died may still answer.
      if (worker === this.#worker) onAnswer(answer);
    });
    worker.on('error', end);
    worker.on('exit', () => end());
    return worker;
  }
}
