/**
 * The link of one node to the store. Writes use several connections. The writes of one connection go in
 * order, and those that wait together form a batch, which fails together. Reads go in parallel. A call takes
 * time in both directions. It may not arrive, or it is applied and its answer is lost.
 *
 * Calls on their way may still arrive after their node died. A paused node gets its answers when it
 * continues.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { BatchOutcome } from '../writer.ts';

/** The simulation's decisions about one node's link to the store. */
export interface LinkControl {
  latencies(): readonly [there: number, back: number];
  outcome(): BatchOutcome;
  /** The answer leaves the store now. The call may have been on its way for longer than planned. */
  answering(backMs: number): void;
  /** Runs at the store, even when the node has ended. */
  atStore(ms: number, act: () => Promise<void>): void;
  /** Runs at the node, if it has not ended. */
  atNode(ms: number, act: () => void): void;
  carryOut(verb: string, given: readonly unknown[], run: () => unknown): Promise<unknown>;
}

interface Call {
  readonly verb: string;
  readonly given: readonly unknown[];
  readonly run: () => unknown;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Connection {
  waiting: Call[];
  isBusy: boolean;
}

const BATCH_MAX = 256;
const IS_READ = /^(find|list|readClock)/;
const CLAIMING = 'claiming';
const CONNECTION_OF: Readonly<Record<string, string>> = {
  claim: CLAIMING,
  endUnsent: CLAIMING,
  defer: CLAIMING,
  saveGates: CLAIMING,
  settle: 'settling',
  prune: 'settling',
  continueSweep: 'upkeep',
  saveTrustedTime: 'upkeep',
  renewLease: 'membership',
  takeSlots: 'membership',
  releaseSlots: 'membership',
  leave: 'membership',
  removeDeadNode: 'membership',
};

export class Link {
  readonly #control: LinkControl;
  readonly #connections = new Map<string, Connection>();
  #pending = 0;

  constructor(control: LinkControl) {
    this.#control = control;
  }

  get isIdle(): boolean {
    return this.#pending === 0;
  }

  /** Wraps the store so that its verbs go over this link. */
  around<S extends object>(store: S): S {
    const verbs = new Map<string | symbol, unknown>();
    return new Proxy(store, {
      get: (target, name) => {
        const known = verbs.get(name);
        if (known !== undefined) return known;
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        const verb = (...given: readonly unknown[]) =>
          this.#call(String(name), given, () => Reflect.apply(member, target, given));
        verbs.set(name, verb);
        return verb;
      },
    });
  }

  #call(verb: string, given: readonly unknown[], run: () => unknown): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const call: Call = { verb, given, run, resolve, reject };
    this.#pending++;
    if (IS_READ.test(verb)) this.#send([call], () => {});
    else {
      const connection = this.#connection(CONNECTION_OF[verb] ?? 'api');
      connection.waiting.push(call);
      // Calls of the same moment join the batch.
      queueMicrotask(() => this.#sendNext(connection));
    }
    return promise;
  }

  #connection(name: string): Connection {
    const connection = this.#connections.get(name) ?? { waiting: [], isBusy: false };
    this.#connections.set(name, connection);
    return connection;
  }

  #sendNext(connection: Connection): void {
    if (connection.isBusy || connection.waiting.length === 0) return;
    connection.isBusy = true;
    this.#send(connection.waiting.splice(0, BATCH_MAX), () => {
      connection.isBusy = false;
      this.#sendNext(connection);
    });
  }

  #send(calls: readonly Call[], answered: () => void): void {
    const [there, back] = this.#control.latencies();
    this.#control.atStore(there, async () => {
      const outcome = this.#control.outcome();
      const answers: (() => void)[] = [];
      for (const call of calls) answers.push(await this.#answer(call, outcome));
      this.#control.answering(back);
      this.#control.atNode(back, () => {
        this.#pending -= calls.length;
        for (const answer of answers) answer();
        answered();
      });
    });
  }

  async #answer({ verb, given, run, resolve, reject }: Call, outcome: BatchOutcome): Promise<() => void> {
    const fail = () => reject(new StoreUnavailable(`Simulated: ${outcome}.`));
    if (outcome === 'refused') return fail;
    try {
      const answer = await this.#control.carryOut(verb, given, run);
      return outcome === 'kept' ? () => resolve(answer) : fail;
    } catch (error) {
      return () => reject(error);
    }
  }
}
