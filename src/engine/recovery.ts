/**
 * Tries that nobody will finish: those of a process that died, and claims of our own whose writing seemed to
 * fail and had not. They are closed as interrupted, and go on by their retry policy.
 */
import { INTERRUPTED } from '#src/domain/delivery-life.ts';
import { dueOf } from '#src/domain/due.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { Settler } from './settler.ts';
import type { EngineWorld } from './world.ts';

/** More than can be under way at once. */
const CLAIMS_MAX = 5_000;

export class Recovery {
  readonly #world: EngineWorld;
  readonly #settler: Settler;
  readonly #hints: Hints;
  readonly #isUnderWay: (token: string) => boolean;

  constructor(world: EngineWorld, settler: Settler, hints: Hints, isUnderWay: (token: string) => boolean) {
    this.#world = world;
    this.#settler = settler;
    this.#hints = hints;
    this.#isUnderWay = isUnderWay;
  }

  /** How many were closed. */
  async run(): Promise<number> {
    const { store, clock, log } = this.#world;
    const claims = await store.listLostClaims([], CLAIMS_MAX);
    const lost = claims.filter(({ delivery }) => !this.#isUnderWay(delivery.claim?.token ?? ''));
    const settled = await Promise.all(
      lost.map((claim) => this.#settler.settle(claim, INTERRUPTED, clock.now())),
    );
    for (const write of settled) if (write !== null) this.#hints.due(dueOf(write.delivery));
    const closed = settled.filter((write) => write !== null).length;
    if (closed > 0) log.warn({ claims: closed }, 'closed the tries of a process that ended');
    return closed;
  }
}
