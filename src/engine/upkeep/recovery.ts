/**
 * AttemptRunner that nobody will finish: those of a process that died, and claims of our own whose writing seemed to
 * fail and had not. They are closed as interrupted, and go on by their retry policy.
 *
 * In a cluster every node looks after its own slots. The claims are listed first, and then it is asked who
 * lives: a node that joined in between is not taken for dead, however early it claimed.
 */

import { dueDeliveryOf } from '#src/domain/due-delivery.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { INTERRUPTED } from '#src/domain/failures.ts';
import type { AttemptsInFlight } from '#src/engine/attempt/attempts-in-flight.ts';
import type { Settler } from '#src/engine/attempt/settler.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { UnsettledAttempt } from '#src/ports/store.ts';
import type { StatsRecorder } from './stats-recorder.ts';

/** More than can be under way at once. */
const CLAIMS_MAX = 5_000;

/** Who else is at work. */
export interface Living {
  /** As they were last seen. */
  readonly nodes: readonly string[];
  /** As of now; rejects when that cannot be told. */
  nodesNow(): Promise<readonly string[]>;
}

export interface RecoveryDependencies {
  readonly ownership: SlotOwnership;
  readonly settler: Settler;
  readonly stats: Pick<StatsRecorder, 'ended'>;
  readonly hints: Hints;
  /** Null: nobody else is. */
  readonly living: Living | null;
  readonly attempts: Pick<AttemptsInFlight, 'has'>;
}

export class Recovery {
  readonly #dependencies: EngineDependencies;
  readonly #parts: RecoveryDependencies;

  constructor(dependencies: EngineDependencies, parts: RecoveryDependencies) {
    this.#dependencies = dependencies;
    this.#parts = parts;
  }

  /** How many were closed. `withOwn`: also claims of our own that nobody works on. */
  async run(withOwn: boolean): Promise<number> {
    const { clock, log } = this.#dependencies;
    const { settler, stats, hints } = this.#parts;
    const lost = await this.#lost(withOwn);
    const settled = await Promise.all(lost.map((claim) => settler.settle(claim, INTERRUPTED, clock.now())));
    const writes = settled.filter((write) => write !== null);
    for (const { delivery } of writes) {
      const { partition, target, status } = delivery;
      stats.ended({ partition, endpoint: endpointKeyOf(target) }, status);
      hints.due(dueDeliveryOf(delivery));
    }
    const closed = writes.length;
    if (closed > 0) log.warn({ claims: closed }, 'closed the attempts of a process that ended');
    return closed;
  }

  async #lost(withOwn: boolean): Promise<readonly UnsettledAttempt[]> {
    const { store, node } = this.#dependencies;
    const { living, attempts } = this.#parts;
    const known = living?.nodes ?? [];
    const listed = await store.listLostClaims(
      withOwn ? known.filter((one) => one !== node) : known,
      CLAIMS_MAX,
    );
    const claims = listed.filter(({ delivery }) => !attempts.has(delivery.claim?.token ?? ''));
    if (living === null || claims.length === 0) return claims;
    const others = new Set((await living.nodesNow()).filter((one) => one !== node));
    return claims.filter((claim) => this.#isForUs(claim, others));
  }

  /** Nobody else ever closes what this node claimed, wherever its slot is by now. */
  #isForUs({ delivery }: UnsettledAttempt, others: ReadonlySet<string>): boolean {
    const { partition, target, claim } = delivery;
    if (claim === null || others.has(claim.node)) return false;
    if (claim.node === this.#dependencies.node) return true;
    return this.#parts.ownership.epochOf({ partition, endpoint: endpointKeyOf(target) }) !== null;
  }
}
