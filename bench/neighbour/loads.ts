/** The processes of the hostile customers that call the API, one for each. */
import type { ChildProcess } from 'node:child_process';
import { endChild, messageFrom, startChild } from '../child.ts';
import type { Calling } from './customers.ts';
import { NICENESS } from './hostile-receiver.ts';

export interface LoadCommand {
  readonly customer: Calling;
  /** The clients use the URLs in round robin. */
  readonly urls: readonly string[];
  readonly apiKey: string;
  readonly clients: number;
  /** `from` and `until` are in milliseconds since the epoch. */
  readonly from: number;
  readonly until: number;
}

export type LoadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly answered: number }
  | { readonly kind: 'failed'; readonly why: string };

const READY_MS_MAX = 60_000;
/** A process with a low priority may end late. */
const END_MS_MAX = 60_000;

export class Loads implements AsyncDisposable {
  readonly #children: ReadonlyMap<Calling, ChildProcess>;

  private constructor(children: ReadonlyMap<Calling, ChildProcess>) {
    this.#children = children;
  }

  /** Starts the processes. Each waits for its command. */
  static async start(customers: readonly Calling[]): Promise<Loads> {
    const children = new Map(
      customers.map((customer) => [
        customer,
        startChild('neighbour/load-process.ts', { niceness: NICENESS }),
      ]),
    );
    await using loads = new AsyncDisposableStack();
    const started = loads.use(new Loads(children));
    await Promise.all(
      [...children.values()].map((child) =>
        messageFrom(child, READY_MS_MAX, (message: LoadMessage) => message.kind === 'ready' || undefined),
      ),
    );
    loads.move();
    return started;
  }

  /** Resolves with the number of successful requests when the time is over. */
  async run(command: LoadCommand): Promise<number> {
    const child = this.#children.get(command.customer);
    if (child === undefined) throw new Error(`${command.customer} was not started.`);
    const withinMs = command.until - Date.now() + END_MS_MAX;
    const ended = messageFrom(child, withinMs, (message: LoadMessage) =>
      message.kind === 'ready' ? undefined : message,
    );
    child.send(command);
    const message = await ended;
    if (message.kind === 'failed') throw new Error(`${command.customer}: ${message.why}`);
    return message.answered;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#children.values()].map(endChild));
  }
}
