/**
 * Finds the nodes that died, by their leases.
 *
 * A wrong judgement would have a live node's attempts sent twice. So no node is taken for dead by a clock that is not
 * synchronized, nor for some time after an outage of the store or a step of the clock: every live node first gets the
 * time to renew its lease. Nodes that really died are found that much later.
 */
import type { Instant } from '#src/domain/instant.ts';
import type { ClusterDependencies } from '#src/engine/dependencies.ts';
import type { NodeLease } from '#src/ports/cluster-store.ts';

/** Besides a lease, the time in which every node has measured the clock and renewed its lease by it. */
const CLOCK_NOTICE_MS = 2_000;
/** A node may start just when the store comes back. Within this time every live node has renewed its lease. */
const START_GRACE_MS = 2_000;
const NONE: ReadonlySet<string> = new Set();

export class DeadNodeDetector {
  readonly #cluster: Pick<ClusterDependencies, 'stopwatch' | 'clock'>;
  readonly #node: string;
  readonly #graceMs: number;
  readonly #futureLeases: FutureLeases;
  /** No node counts as dead before this instant of the stopwatch. */
  #graceUntil = Number.NEGATIVE_INFINITY;

  constructor(cluster: Pick<ClusterDependencies, 'stopwatch' | 'clock'>, node: string, leaseMs: number) {
    this.#cluster = cluster;
    this.#node = node;
    this.#graceMs = leaseMs + CLOCK_NOTICE_MS;
    this.#futureLeases = new FutureLeases(this.#graceMs);
  }

  start(): void {
    this.#graceUntil = this.#cluster.stopwatch.elapsed() + START_GRACE_MS;
  }

  /** This node could not reach the store. Other nodes may not have been able to renew their leases either. */
  afterOutage(roundAt: number): void {
    this.#graceUntil = roundAt + this.#graceMs;
  }

  /** Returns true when the lease of another node has run out. A node never judges itself. */
  isExpired({ node, leaseUntil }: NodeLease): boolean {
    return node !== this.#node && leaseUntil <= this.#cluster.clock.now();
  }

  /**
   * Returns the nodes that died, by leases that were read in the round that began at `roundAt`. The clock is measured
   * again after they were read, because it may have been set.
   */
  async findDead(leases: readonly NodeLease[], roundAt: number): Promise<ReadonlySet<string>> {
    const { clock } = this.#cluster;
    this.#futureLeases.observe(leases, clock.now(), roundAt);
    const { abandoned } = this.#futureLeases;
    if (!leases.some((lease) => this.isExpired(lease)) && abandoned.length === 0) return NONE;
    await clock.measure();
    if (!clock.isSynchronized || roundAt < this.#graceUntil || clock.sinceStepMs < this.#graceMs) return NONE;
    const expired = leases.filter((lease) => this.isExpired(lease)).map(({ node }) => node);
    return new Set([...expired, ...abandoned]);
  }
}

/**
 * Leases that end further in the future than any lease that was just given: the clock was set back. Live nodes renew
 * theirs soon. A lease that stays the same belongs to a node that died before.
 */
class FutureLeases {
  readonly #futureMs: number;
  #seen: ReadonlyMap<string, { readonly leaseUntil: Instant; readonly since: number }> = new Map();
  #observedAt = 0;

  constructor(futureMs: number) {
    this.#futureMs = futureMs;
  }

  /** `at` is a time of the stopwatch. */
  observe(leases: readonly NodeLease[], now: Instant, at: number): void {
    const before = this.#seen;
    const future = leases.filter(({ leaseUntil }) => leaseUntil > now + this.#futureMs);
    this.#observedAt = at;
    this.#seen = new Map(
      future.map(({ node, leaseUntil }) => {
        const known = before.get(node);
        return [node, known?.leaseUntil === leaseUntil ? known : { leaseUntil, since: at }];
      }),
    );
  }

  /** The nodes that have not renewed such a lease for too long. */
  get abandoned(): readonly string[] {
    const old = [...this.#seen].filter(([, { since }]) => this.#observedAt - since > this.#futureMs);
    return old.map(([node]) => node);
  }
}
