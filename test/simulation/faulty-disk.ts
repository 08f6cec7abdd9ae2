/** The simulated disk decides how long a batch takes and how it ends. */
import type { Prng } from '#test/fuzz/prng.ts';
import type { Plan } from './plan.ts';
import type { BatchOutcome } from './writer.ts';

export class FaultyDisk {
  readonly #plan: Plan;
  readonly #prng: Prng;
  readonly #onFault: () => void;
  #isUnavailable = false;
  #isHealed = false;

  constructor(plan: Plan, prng: Prng, onFault: () => void) {
    this.#plan = plan;
    this.#prng = prng;
    this.#onFault = onFault;
  }

  setUnavailable(isAway: boolean): void {
    this.#isUnavailable = isAway;
  }

  heal(): void {
    this.#isHealed = true;
    this.#isUnavailable = false;
  }

  latencies(): readonly [number, number] {
    const prng = this.#prng;
    const one = () => {
      if (!this.#plan.slowDisk || this.#isHealed) return prng.int(3);
      return prng.weighted([
        [90, prng.int(6)],
        [9, prng.int(300)],
        [1, prng.int(2_000)],
      ]);
    };
    return [one(), one()];
  }

  outcome(): BatchOutcome {
    const outcome = this.#batchOutcome();
    if (outcome !== 'kept') this.#onFault();
    return outcome;
  }

  #batchOutcome(): BatchOutcome {
    const prng = this.#prng;
    if (this.#isHealed) return 'kept';
    if (this.#isUnavailable) return prng.chance(0.8) ? 'refused' : 'answer_lost';
    if (prng.chance(this.#plan.refuseChance)) return 'refused';
    return prng.chance(this.#plan.loseAnswerChance) ? 'answer_lost' : 'kept';
  }

  readsFail(): boolean {
    const fails = this.#isUnavailable && !this.#isHealed && this.#prng.chance(0.5);
    if (fails) this.#onFault();
    return fails;
  }
}
