/**
 * Recovery closes the attempts that no node will finish: attempts whose node died, and claims of this node that are
 * stored although their write seemed to fail. They are closed as interrupted, and their deliveries continue by their
 * retry policy.
 *
 * Recovery runs at the start and when this node does not know whether a claim was stored. In a cluster it also runs
 * when a node died, when slots were gained, and every few seconds as a safety net. One run follows the other until
 * nothing is left to close.
 *
 * In a cluster every node recovers the attempts of its own slots. The claims are listed before the live nodes are read.
 * So a node that joins in between is not taken for dead, however early it claimed.
 */

import { INTERRUPTED } from '#src/domain/failures.ts';
import type { AttemptsInFlight } from '#src/engine/attempt/attempts-in-flight.ts';
import type { Settler } from '#src/engine/attempt/settler.ts';
import type { Membership } from '#src/engine/cluster/membership.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';
import type { NotificationHints } from '#src/engine/queue/notification-hints.ts';
import { cachedEndpointKey, dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import type { Hints } from '#src/ports/hints.ts';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import type { UnsettledAttempt } from '#src/ports/store.ts';
import { pause } from '#src/ports/system.ts';
import type { StatsRecorder } from './stats-recorder.ts';

/** Claims that are listed in one run: more than can be in flight at once. */
const CLAIMS_MAX = 5_000;
const RETRY_MS = 500;
const SAFETY_NET_MS = 5_000;
/** Runs of the safety net that also close claims of this node, because the write of a claim may arrive late. */
const OWN_CLAIM_RUNS = 12;

export interface AttemptRecoveryDependencies
  extends Pick<EngineDependencies, 'store' | 'clock' | 'timers' | 'log' | 'node' | 'cluster'> {
  readonly ownership: Pick<SlotOwnership, 'epochOf'>;
  readonly settler: Pick<Settler, 'settle'>;
  readonly stats: Pick<StatsRecorder, 'countEnded'>;
  readonly hints: Pick<Hints, 'due'>;
  readonly notifications: Pick<NotificationHints, 'due'>;
  readonly attempts: Pick<AttemptsInFlight, 'has'>;
  /** Null for a process that has its store to itself. */
  readonly membership: Pick<
    Membership,
    'liveNodes' | 'readLiveNodes' | 'onSlotsGained' | 'onNodesDied'
  > | null;
}

/** Never runs twice at one time, and never closes an attempt that is in flight on this node. */
export class AttemptRecovery {
  readonly #dependencies: AttemptRecoveryDependencies;
  readonly #outage: OutageLog;
  readonly #safetyNet: PeriodicTask;
  /** Runs until nothing is left to close; null while recovery rests. */
  #recovering: Promise<void> | null = null;
  /** Whether recovery was requested since the current run began. */
  #isRequested = false;
  /** How many more runs of the safety net also close claims of this node. */
  #ownClaimRuns = 0;
  #isStopped = false;

  constructor(dependencies: AttemptRecoveryDependencies) {
    this.#dependencies = dependencies;
    this.#safetyNet = new PeriodicTask(dependencies.timers, () => this.#runSafetyNet());
    this.#outage = warnsOfOutage(
      dependencies,
      'interrupted attempts could not be recovered',
      'interrupted attempts are recovered again',
    );
    const { membership } = dependencies;
    membership?.onSlotsGained(() => void this.recover());
    membership?.onNodesDied(() => void this.recover());
  }

  /** Resolves when every lost attempt is closed. */
  async start(): Promise<void> {
    if (this.#dependencies.cluster !== null) this.#safetyNet.runWithin(SAFETY_NET_MS);
    await this.recover();
  }

  /** Resolves when every lost attempt is closed. */
  recover(): Promise<void> {
    return this.#recoverIn(0);
  }

  /** This node does not know whether a claim of its own is stored. */
  recoverOwnClaims(): void {
    this.#ownClaimRuns = OWN_CLAIM_RUNS;
    void this.#recoverIn(RETRY_MS);
  }

  stop(): void {
    this.#isStopped = true;
    void this.#safetyNet.stop();
  }

  #runSafetyNet(): number {
    void this.recover();
    if (this.#ownClaimRuns > 0) this.#ownClaimRuns--;
    return SAFETY_NET_MS;
  }

  #recoverIn(ms: number): Promise<void> {
    this.#isRequested = true;
    this.#recovering ??= this.#recoverAll(ms);
    return this.#recovering;
  }

  async #recoverAll(afterMs: number): Promise<void> {
    const { timers, cluster } = this.#dependencies;
    if (afterMs > 0) await pause(timers, afterMs);
    while (!this.#isStopped) {
      this.#isRequested = false;
      try {
        const closed = await this.recoverOnce(cluster === null || this.#ownClaimRuns > 0);
        this.#outage.succeeded();
        // A run is bounded, so it may have left some.
        if (!this.#isRequested && closed > 0) continue;
        if (!this.#isRequested) break;
      } catch (error) {
        this.#outage.failed({ error: String(error) });
      }
      await pause(timers, RETRY_MS);
    }
    this.#recovering = null;
  }

  /** Returns how many attempts were closed. `withOwn` includes claims of this node that are not in flight. */
  async recoverOnce(withOwn: boolean): Promise<number> {
    const { clock, log, settler, stats, hints, notifications } = this.#dependencies;
    const lost = await this.#listLost(withOwn);
    const settled = await Promise.all(lost.map((claim) => settler.settle(claim, INTERRUPTED, clock.now())));
    const writes = settled.filter((write) => write !== null);
    for (const { delivery, notification } of writes) {
      const { partition, target, status } = delivery;
      stats.countEnded({ partition, endpoint: cachedEndpointKey(target) }, status);
      hints.due(dueDeliveryOf(delivery));
      notifications.due(notification);
    }
    const closed = writes.length;
    if (closed > 0) log.warn({ claims: closed }, 'interrupted attempts were closed');
    return closed;
  }

  async #listLost(withOwn: boolean): Promise<readonly UnsettledAttempt[]> {
    const { store, node, membership, attempts } = this.#dependencies;
    const live = membership?.liveNodes ?? [];
    const listed = await store.listLostClaims(
      withOwn ? live.filter((one) => one !== node) : live,
      CLAIMS_MAX,
    );
    const claims = listed.filter(({ delivery }) => !attempts.has(delivery.claim.attemptId));
    if (membership === null || claims.length === 0) return claims;
    const others = new Set((await membership.readLiveNodes()).filter((one) => one !== node));
    return claims.filter((claim) => this.#isOurs(claim, others));
  }

  /** Only this node closes what it claimed itself, also when another node owns the slot by now. */
  #isOurs({ delivery }: UnsettledAttempt, others: ReadonlySet<string>): boolean {
    const { partition, target, claim } = delivery;
    const { node, ownership } = this.#dependencies;
    if (others.has(claim.node)) return false;
    if (claim.node === node) return true;
    return ownership.epochOf({ partition, endpoint: cachedEndpointKey(target) }) !== null;
  }
}
