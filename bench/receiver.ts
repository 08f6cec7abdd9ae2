/** The receiver, as the process that started it uses it. */
import type { ChildProcess } from 'node:child_process';
import { endChild, messageFrom, startChild } from './child.ts';
import { cpuMsOf } from './process-figures.ts';
import type { Arrivals, Expectation, ReceiverCommand, ReceiverMessage } from './receiver-process.ts';

const ANSWER_MS_MAX = 30_000;

export class Receiver implements AsyncDisposable {
  readonly #child: ChildProcess;
  /** Paths at which every expected request has arrived. */
  readonly #completed = new Set<string>();
  /** The URL of the receiver, without a path. */
  readonly url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    child.on('message', (message: ReceiverMessage) => {
      if (message.kind === 'complete') this.#completed.add(message.path);
    });
  }

  static async start(): Promise<Receiver> {
    const child = startChild('receiver-process.ts');
    const { url } = await messageFrom(child, ANSWER_MS_MAX, (message: ReceiverMessage) =>
      message.kind === 'listens' ? message : undefined,
    );
    return new Receiver(child, url);
  }

  /** The call must come before the first request may arrive. Earlier expectations are forgotten. */
  expect(...expectations: readonly Expectation[]): void {
    this.#completed.clear();
    this.#send({ kind: 'expect', expectations });
  }

  /** Waits for the last request that is expected at the path, at most this long. Returns whether all have arrived. */
  async complete(path: string, withinMs: number): Promise<boolean> {
    if (this.#completed.has(path)) return true;
    const isComplete = (message: ReceiverMessage) =>
      message.kind === 'complete' && message.path === path ? true : undefined;
    return messageFrom(this.#child, withinMs, isComplete).catch(() => false);
  }

  async arrivalsAt(path: string): Promise<Arrivals> {
    const answer = messageFrom(this.#child, ANSWER_MS_MAX, (message: ReceiverMessage) =>
      message.kind === 'arrivals' && message.path === path ? message.arrivals : undefined,
    );
    this.#send({ kind: 'arrivals', path });
    return answer;
  }

  /** Processor time of the receiver so far. Null if it is not known. */
  cpuMs(): number | null {
    return cpuMsOf(this.#child.pid);
  }

  #send(command: ReceiverCommand): void {
    this.#child.send(command);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return endChild(this.#child);
  }
}
