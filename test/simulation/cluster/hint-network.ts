/** Carries hints from one node to all others. Most arrive soon. Some arrive late, twice or not at all. */
import type { Peers } from '#src/ports/hints.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import type { VirtualTime } from '#test/simulation/virtual-time.ts';
import type { ClusterNode } from './node.ts';
import type { ClusterPlan } from './plan.ts';

const TAKES_MS_MAX = 20;
const LATE_MS_MAX = 3_000;

export class HintNetwork {
  readonly #time: VirtualTime;
  readonly #prng: Prng;
  readonly #plan: ClusterPlan;
  readonly #nodes: () => readonly ClusterNode[];
  #isHealed = false;

  constructor(time: VirtualTime, prng: Prng, plan: ClusterPlan, nodes: () => readonly ClusterNode[]) {
    this.#time = time;
    this.#prng = prng;
    this.#plan = plan;
    this.#nodes = nodes;
  }

  heal(): void {
    this.#isHealed = true;
  }

  /** Whether every hint arrives soon. */
  get isReliable(): boolean {
    return this.#plan.lostChance + this.#plan.lateChance === 0;
  }

  of(from: ClusterNode): Peers {
    const send = (to: (peers: Peers) => void) => {
      for (const node of this.#nodes()) if (node !== from) this.#send(node, to);
    };
    return {
      due: (due) => send((peers) => peers.due(due)),
      rescan: () => send((peers) => peers.rescan()),
      slotsChanged: () => send((peers) => peers.slotsChanged()),
    };
  }

  #send(node: ClusterNode, to: (peers: Peers) => void): void {
    const prng = this.#prng;
    const { lostChance, lateChance, doubledChance } = this.#plan;
    const arrives = () => {
      const isLate = !this.#isHealed && prng.chance(lateChance);
      this.#time.after(prng.int(isLate ? LATE_MS_MAX : TAKES_MS_MAX), 'work', node.scope, () =>
        to(node.hints),
      );
    };
    if (!this.#isHealed && prng.chance(lostChance)) return;
    arrives();
    if (!this.#isHealed && prng.chance(doubledChance)) arrives();
  }
}
