/** Decides how long a call of a node to the store takes, and what gets lost. */
import type { Prng } from '#test/fuzz/prng.ts';
import type { BatchOutcome } from '#test/simulation/writer.ts';
import type { ClusterPlan } from './plan.ts';

/** A call that takes longer than this disturbs the node. */
const SLOW_MS = 60;
const CUT_OFF_FAILS_WITHIN_MS = 800;

export class LinkFaults {
  readonly #plan: ClusterPlan;
  readonly #prng: Prng;
  /** Reports that the node may be late for this long. */
  readonly #onDisturbed: (ms: number) => void;
  isCut = false;
  #isHealed = false;

  constructor(plan: ClusterPlan, prng: Prng, onDisturbed: (ms: number) => void) {
    this.#plan = plan;
    this.#prng = prng;
    this.#onDisturbed = onDisturbed;
  }

  heal(): void {
    this.#isHealed = true;
    this.isCut = false;
  }

  latencies(): readonly [number, number] {
    const ways = [this.#latency(), this.#latency()] as const;
    const total = ways[0] + ways[1];
    if (total > SLOW_MS) this.#onDisturbed(total);
    return ways;
  }

  /** A call that was held up on its way disturbs the node for longer than planned. */
  answering(backMs: number): void {
    if (backMs > SLOW_MS) this.#onDisturbed(backMs);
  }

  #latency(): number {
    const prng = this.#prng;
    if (this.isCut) return prng.int(CUT_OFF_FAILS_WITHIN_MS / 2);
    if (!this.#plan.isSlow || this.#isHealed) return prng.int(4);
    return prng.weighted([
      [180, prng.int(6)],
      [17, prng.int(300)],
      [2, prng.int(8_000)],
    ]);
  }

  outcome(): BatchOutcome {
    const outcome = this.#batchOutcome();
    if (outcome !== 'kept') this.#onDisturbed(CUT_OFF_FAILS_WITHIN_MS);
    return outcome;
  }

  #batchOutcome(): BatchOutcome {
    const prng = this.#prng;
    if (this.#isHealed) return 'kept';
    if (this.isCut) return prng.chance(0.9) ? 'refused' : 'answer_lost';
    if (prng.chance(this.#plan.refuseChance)) return 'refused';
    return prng.chance(this.#plan.loseAnswerChance) ? 'answer_lost' : 'kept';
  }
}
