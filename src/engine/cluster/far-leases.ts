/**
 * Leases that end further ahead than any that was just given: a clock was set back. Those of the living are
 * renewed soon; those that stay the same are of nodes that died before.
 */
import type { Instant } from '#src/domain/instant.ts';
import type { NodeLease } from '#src/ports/cluster-store.ts';

export class FarLeases {
  readonly #farMs: number;
  #seen: ReadonlyMap<string, { readonly leaseUntil: Instant; readonly since: number }> = new Map();
  #at = 0;

  constructor(farMs: number) {
    this.#farMs = farMs;
  }

  /** `at`: by the stopwatch. */
  see(leases: readonly NodeLease[], now: Instant, at: number): void {
    const before = this.#seen;
    const far = leases.filter(({ leaseUntil }) => leaseUntil > now + this.#farMs);
    this.#at = at;
    this.#seen = new Map(
      far.map(({ node, leaseUntil }) => {
        const known = before.get(node);
        return [node, known?.leaseUntil === leaseUntil ? known : { leaseUntil, since: at }];
      }),
    );
  }

  /** The nodes that have not renewed theirs for as long. */
  get forgotten(): readonly string[] {
    const old = [...this.#seen].filter(([, { since }]) => this.#at - since > this.#farMs);
    return old.map(([node]) => node);
  }
}
