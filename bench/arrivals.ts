/** The receiver as its parent sees it. */
import type { ChildProcess } from 'node:child_process';
import { endChild, messageFrom, startChild } from './child.ts';
import type { Expectation, Notes, ReceiverMessage, ReceiverOrder } from './receiver.ts';

const ANSWER_MS_MAX = 30_000;

export class Arrivals implements AsyncDisposable {
  readonly #child: ChildProcess;
  /** Paths of which all has arrived. */
  readonly #completed = new Set<string>();
  /** Of the receiver, without a path. */
  readonly url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    child.on('message', (message: ReceiverMessage) => {
      if (message.kind === 'complete') this.#completed.add(message.path);
    });
  }

  static async start(): Promise<Arrivals> {
    const child = startChild('receiver.ts');
    const { url } = await messageFrom(child, ANSWER_MS_MAX, (message: ReceiverMessage) =>
      message.kind === 'listens' ? message : undefined,
    );
    return new Arrivals(child, url);
  }

  /** To be said before the first may arrive. What was expected until then is forgotten. */
  expect(...expectations: readonly Expectation[]): void {
    this.#completed.clear();
    this.#tell({ kind: 'expect', expectations });
  }

  /** Until the last one expected at the path has arrived, but no longer than this: whether all have. */
  async complete(path: string, withinMs: number): Promise<boolean> {
    if (this.#completed.has(path)) return true;
    const isComplete = (message: ReceiverMessage) =>
      message.kind === 'complete' && message.path === path ? true : undefined;
    return messageFrom(this.#child, withinMs, isComplete).catch(() => false);
  }

  async notes(path: string): Promise<Notes> {
    const answer = messageFrom(this.#child, ANSWER_MS_MAX, (message: ReceiverMessage) =>
      message.kind === 'notes' && message.path === path ? message.notes : undefined,
    );
    this.#tell({ kind: 'notes', path });
    return answer;
  }

  #tell(order: ReceiverOrder): void {
    this.#child.send(order);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return endChild(this.#child);
  }
}
