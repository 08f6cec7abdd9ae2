/**
 * The way of one node to the store and back. Writes go in lanes, as over connections of their own: in order,
 * those that wait together as one batch, which fails together; reads go beside each other. Each takes its time
 * there and its time back; it may not arrive, or be carried out and its answer get lost.
 *
 * What is on its way when the node dies may still arrive. What is answered to a node that stands still is heard
 * when it goes on.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Fate } from '../writer.ts';

/** What the simulation decides about one node's way to the store. */
export interface Wire {
  latencies(): readonly [there: number, back: number];
  fate(): Fate;
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

interface Lane {
  waiting: Call[];
  isBusy: boolean;
}

const BATCH_MAX = 256;
const IS_READ = /^(find|list|readClock)/;
const CLAIMING = 'claiming';
const LANE_OF: Readonly<Record<string, string>> = {
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
  readonly #wire: Wire;
  readonly #lanes = new Map<string, Lane>();
  #underWay = 0;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  get isIdle(): boolean {
    return this.#underWay === 0;
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
          this.#ask(String(name), given, () => Reflect.apply(member, target, given));
        verbs.set(name, verb);
        return verb;
      },
    });
  }

  #ask(verb: string, given: readonly unknown[], run: () => unknown): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const call: Call = { verb, given, run, resolve, reject };
    this.#underWay++;
    if (IS_READ.test(verb)) this.#send([call], () => {});
    else {
      const lane = this.#lane(LANE_OF[verb] ?? 'api');
      lane.waiting.push(call);
      // What is asked for at the same moment goes along.
      queueMicrotask(() => this.#sendNext(lane));
    }
    return promise;
  }

  #lane(name: string): Lane {
    const lane = this.#lanes.get(name) ?? { waiting: [], isBusy: false };
    this.#lanes.set(name, lane);
    return lane;
  }

  #sendNext(lane: Lane): void {
    if (lane.isBusy || lane.waiting.length === 0) return;
    lane.isBusy = true;
    this.#send(lane.waiting.splice(0, BATCH_MAX), () => {
      lane.isBusy = false;
      this.#sendNext(lane);
    });
  }

  #send(calls: readonly Call[], answered: () => void): void {
    const [there, back] = this.#wire.latencies();
    this.#wire.atStore(there, async () => {
      const fate = this.#wire.fate();
      const answers: (() => void)[] = [];
      for (const call of calls) answers.push(await this.#answer(call, fate));
      this.#wire.atNode(back, () => {
        this.#underWay -= calls.length;
        for (const answer of answers) answer();
        answered();
      });
    });
  }

  async #answer({ verb, given, run, resolve, reject }: Call, fate: Fate): Promise<() => void> {
    const fail = () => reject(new StoreUnavailable(`Simulated: ${fate}.`));
    if (fate === 'refused') return fail;
    try {
      const answer = await this.#wire.carryOut(verb, given, run);
      return fate === 'kept' ? () => resolve(answer) : fail;
    } catch (error) {
      return () => reject(error);
    }
  }
}
