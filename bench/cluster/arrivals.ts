/** The receiver as its parent sees it. */
import type { ChildProcess } from 'node:child_process';
import { endChild, messageFrom, startChild } from './child.ts';
import type { Expectation, Notes, ReceiverMessage } from './receiver.ts';

const ANSWER_MS_MAX = 30_000;

export class Arrivals implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(): Promise<Arrivals> {
    const child = startChild('receiver.ts');
    const message = await messageFrom<ReceiverMessage>(child, ANSWER_MS_MAX);
    if (message.kind !== 'listens') throw new Error('The receiver does not listen.');
    return new Arrivals(child, message.url);
  }

  /** To be said before the first may arrive. What is noted until then is forgotten. */
  expect(expectation: Expectation): void {
    this.#child.send(expectation);
  }

  /** Until the last one expected has arrived. */
  async complete(withinMs: number): Promise<void> {
    try {
      await messageFrom<ReceiverMessage>(this.#child, withinMs);
    } catch (error) {
      const { lateness } = await this.notes();
      throw new Error(`Only ${lateness.length} arrived within ${withinMs} ms.`, { cause: error });
    }
  }

  async notes(): Promise<Notes> {
    this.#child.send('notes');
    const message = await messageFrom<ReceiverMessage>(this.#child, ANSWER_MS_MAX);
    if (message.kind !== 'notes') throw new Error('The receiver gives no notes.');
    return message.notes;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return endChild(this.#child);
  }
}
