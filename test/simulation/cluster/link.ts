/**
 * The way of one node to the store and back. Writes go in lanes, as over connections of their own: in order,
 * those that wait together as one batch, which fails together; reads go beside each other. Each takes its time
 * there and its time back; it may not arrive, or be carried out and its answer get lost.
 *
 * What is on its way when the node dies may still arrive. What is answered to a node that stands still is heard
 * when it goes on.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { BatchOutcome } from '../writer.ts';

/** What the simulation decides about one node's way to the store. */
export interface LinkControl {
  latencies(): readonly [there: number, back: number];
  outcome(): BatchOutcome;
  /** At the store: whatever has become of the node. */
  atStore(ms: number, act: () => Promise<void>): void;
  /** Back at the node, if it still lives. */
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

  /** The same store, at the other end. */
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
      // What is asked for at the same moment goes along.
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
