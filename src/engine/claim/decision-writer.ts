/**
 * Writes the decisions of a batch, each kind in one step, and begins the attempts of those that were claimed.
 *
 * Every write is conditional on the revision that was read, and in a cluster on the fence of the slot. If a delivery
 * was changed in the meantime, that change wins, and the delivery goes back to the queue.
 */

import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { AttemptRunner } from '#src/engine/attempt/attempt-runner.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { ClaimedDelivery, DecidedDelivery } from '#src/engine/delivery-stages.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import { releaseDeferred } from '#src/engine/gate/release-deferred.ts';
import type { ClaimPause } from '#src/engine/queue/claim-pause.ts';
import type { NotificationHints } from '#src/engine/queue/notification-hints.ts';
import type { WorkQueue } from '#src/engine/queue/work-queue.ts';
import type { StatsRecorder } from '#src/engine/upkeep/stats-recorder.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import { makeNotification } from '#src/ports/notifications.ts';
import type { EndWrite } from '#src/ports/store.ts';
import type { Decisions } from './decider.ts';

/** A delivery that was changed just before its claim waits for this time. */
const CHANGED_MS = 10;
const MS_PER_SECOND = 1_000;

export interface DecisionWriterDependencies
  extends Pick<EngineDependencies, 'store' | 'clock' | 'ids' | 'log' | 'metrics'> {
  readonly ownership: SlotOwnership;
  readonly gates: Gates;
  readonly queue: WorkQueue;
  readonly notifications: NotificationHints;
  readonly claimPause: ClaimPause;
  readonly runner: AttemptRunner;
  readonly stats: Pick<StatsRecorder, 'countEnded' | 'countDowntimeSkip'>;
}

export class DecisionWriter {
  readonly #dependencies: DecisionWriterDependencies;

  constructor(dependencies: DecisionWriterDependencies) {
    this.#dependencies = dependencies;
  }

  /** Never rejects. */
  async write({ claims, drafts, ends, deferrals, downtimeSkips }: Decisions): Promise<void> {
    // The gates come first: a store carries out its orders in the order in which they were given.
    const tokens = [...claims, ...deferrals].filter(({ hasToken }) => hasToken).map(({ due }) => due);
    const saved = tokens.length === 0 ? null : this.#dependencies.gates.saveTokens(tokens);
    await Promise.all([
      saved,
      this.#claim(claims, drafts, downtimeSkips),
      this.#end(ends, downtimeSkips),
      this.#defer(deferrals),
    ]);
  }

  async #claim(
    claims: readonly ClaimedDelivery[],
    drafts: Decisions['drafts'],
    downtimeSkips: Decisions['downtimeSkips'],
  ): Promise<void> {
    if (claims.length === 0) return;
    const { store, metrics, ownership, queue, claimPause, runner, stats } = this.#dependencies;
    const writes = claims.map(({ write }) => write);
    const answered = store.claim(writes, ownership.fence);
    // The requests are built while the disk works.
    runner.prepare(claims, drafts);
    try {
      const answers = await answered;
      claimPause.storeSucceeded();
      for (const [index, claimed] of claims.entries()) {
        const { write, attempt, due } = claimed;
        queue.forget(due);
        if (answers[index] === 'done') {
          this.#settleToken(claimed, true);
          metrics.lateness('claim', (attempt.firedAt - attempt.dueAt) / MS_PER_SECOND);
          if (write.advanced !== null) queue.due(dueDeliveryOf(write.advanced.next));
          if (downtimeSkips.has(due)) stats.countDowntimeSkip(due);
          runner.begin(claimed);
        } else {
          runner.drop(claimed, 'refused');
          this.#requeue(claimed);
        }
      }
    } catch (error) {
      for (const claimed of claims) runner.drop(claimed, 'unknown');
      await this.#storeFailed(claims, ({ write }) => write.delivery, error);
    }
  }

  async #end(
    ends: readonly DecidedDelivery<EndWrite>[],
    downtimeSkips: Decisions['downtimeSkips'],
  ): Promise<void> {
    if (ends.length === 0) return;
    const { store, metrics, ownership, queue, stats, notifications: hints } = this.#dependencies;
    // The slot may move while the notifications are made, so the fence is that of the decision.
    const { fence } = ownership;
    const made = new Map<DeliveryId, Delivery>();
    await this.#writeAll(
      ends,
      async (writes) => {
        const told = await Promise.all(writes.map((write) => this.#told(write)));
        for (const { delivery, notification = null } of told) {
          if (notification !== null) made.set(delivery.id, notification);
        }
        return store.endUnsent(told, fence);
      },
      ({ write }) => write.delivery,
      ({ due, write }) => {
        metrics.unsent(write.delivery.status === 'expired' ? 'expired' : 'dead_letter');
        stats.countEnded(due, write.delivery.status);
        if (downtimeSkips.has(due)) stats.countDowntimeSkip(due);
        if (write.advanced !== null) queue.due(dueDeliveryOf(write.advanced.next));
        hints.due(made.get(write.delivery.id));
      },
    );
  }

  /** Adds the notification of a delivery that ends. */
  async #told(write: EndWrite): Promise<EndWrite> {
    const { delivery } = write;
    const now = this.#dependencies.clock.now();
    return { ...write, notification: await makeNotification(this.#dependencies, delivery, now) };
  }

  async #defer(deferrals: readonly DecidedDelivery<Delivery>[]): Promise<void> {
    if (deferrals.length === 0) return;
    const { store, metrics, ownership, gates, queue } = this.#dependencies;
    await this.#writeAll(
      deferrals,
      (writes) => store.defer(writes, ownership.fence),
      ({ write }) => write,
      ({ write, epoch }) => {
        metrics.unsent('deferred');
        const due = dueDeliveryOf(write);
        queue.due(due);
        if (due === null || !ownership.isOwnedSince(due, epoch)) return;
        const isKept = write.reserved || gates.rememberDeferred(due);
        if (!isKept) void releaseDeferred(this.#dependencies, [due]);
      },
    );
  }

  async #writeAll<Write>(
    decided: readonly DecidedDelivery<Write>[],
    write: (writes: readonly Write[]) => Promise<readonly ('done' | 'stale')[]>,
    deliveryOf: (one: DecidedDelivery<Write>) => Delivery,
    done: (one: DecidedDelivery<Write>) => void,
  ): Promise<void> {
    try {
      const answers = await write(decided.map((one) => one.write));
      for (const [index, one] of decided.entries()) {
        if (answers[index] === 'done') {
          this.#settleToken(one, true);
          this.#dependencies.queue.release(one.due);
          done(one);
        } else this.#requeue(one);
      }
    } catch (error) {
      await this.#storeFailed(decided, deliveryOf, error);
    }
  }

  /** A write failed, or only its answer was lost. The stored revisions show which tokens were used. */
  async #storeFailed<Decided extends DecidedDelivery<unknown>>(
    decided: readonly Decided[],
    deliveryOf: (one: Decided) => Delivery,
    error: unknown,
  ): Promise<void> {
    const { queue, claimPause } = this.#dependencies;
    claimPause.storeFailed(error);
    const stored = await this.#storedRevisions(decided.filter(({ hasToken }) => hasToken));
    for (const one of decided) {
      const { id, revision } = deliveryOf(one);
      this.#settleToken(one, (stored.get(id) ?? revision) >= revision);
      queue.release(one.due);
    }
  }

  /** Deliveries that cannot be read are left out. */
  async #storedRevisions(decided: readonly DecidedDelivery<unknown>[]): Promise<ReadonlyMap<string, number>> {
    try {
      const loaded = await this.#dependencies.store.loadDeliveries(decided.map(({ due }) => due));
      const deliveries = loaded.filter((one) => one !== null).map(({ delivery }) => delivery);
      return new Map(deliveries.map(({ id, revision }) => [id, revision]));
    } catch {
      return new Map();
    }
  }

  #settleToken({ due, epoch, hasToken }: DecidedDelivery<unknown>, wasUsed: boolean): void {
    const { ownership, gates } = this.#dependencies;
    if (hasToken && ownership.isOwnedSince(due, epoch)) gates.settleToken(due, wasUsed);
  }

  /**
   * The delivery was changed in the meantime, or its slot has moved. It may still be due, and its hint may have been
   * missed. For a prefetched delivery a change is likely, so it is read again at once and the ownership of its slot is
   * not doubted.
   */
  #requeue(decided: DecidedDelivery<unknown>): void {
    const { clock, ownership, queue } = this.#dependencies;
    const { due, isPrefetched } = decided;
    this.#settleToken(decided, false);
    queue.release(due);
    if (!isPrefetched) ownership.reportRefusedWrite();
    queue.due({ ...due, dueAt: instant(clock.now() + (isPrefetched ? 0 : CHANGED_MS)) });
  }
}
