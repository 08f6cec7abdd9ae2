/** The receivers of hostile customers, as the benchmark uses them. They keep their ports for the run. */
import type { ChildProcess } from 'node:child_process';
import { endChild, messageFrom, startChild } from '../child.ts';
import type { Receiving } from './customers.ts';

export type HostileReceiverMessage =
  | { readonly kind: 'listens'; readonly urls: readonly (readonly [Receiving, string])[] }
  | { readonly kind: 'counts'; readonly counts: readonly (readonly [Receiving, number])[] };

/** Load generators and hostile receivers get only the processor time that the service leaves. */
export const NICENESS = 10;
const ANSWER_MS_MAX = 60_000;

export class HostileReceiver implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #urls: ReadonlyMap<Receiving, string>;

  private constructor(child: ChildProcess, urls: ReadonlyMap<Receiving, string>) {
    this.#child = child;
    this.#urls = urls;
  }

  static async start(): Promise<HostileReceiver> {
    const child = startChild('neighbour/hostile-receiver-process.ts', { niceness: NICENESS });
    const urls = await messageFrom(child, ANSWER_MS_MAX, (message: HostileReceiverMessage) =>
      message.kind === 'listens' ? message.urls : undefined,
    );
    return new HostileReceiver(child, new Map(urls));
  }

  /** The URL has no path. */
  url(customer: Receiving): string {
    return this.#urls.get(customer) ?? '';
  }

  /** Returns the number of requests that each customer has received so far. */
  async counts(): Promise<ReadonlyMap<Receiving, number>> {
    const answer = messageFrom(this.#child, ANSWER_MS_MAX, (message: HostileReceiverMessage) =>
      message.kind === 'counts' ? message.counts : undefined,
    );
    this.#child.send({ kind: 'counts' });
    return new Map(await answer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return endChild(this.#child);
  }
}
