/** Decides what happens to loaded deliveries, by the rules of the domain and the state of their gates. */

import { attemptInFlight, type Delivery } from '#src/domain/delivery.ts';
import { defer, endUnsent } from '#src/domain/delivery-lifecycle.ts';
import { decideDispatch } from '#src/domain/dispatch.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { termsFor } from '#src/domain/gate.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { skipsOccurrences } from '#src/domain/schedule-deliveries.ts';
import type { Advance } from '#src/domain/schedule-lifecycle.ts';
import * as scheduleLife from '#src/domain/schedule-lifecycle.ts';
import type { Draft, Unsendable } from '#src/engine/attempt/request-builder.ts';
import type { CandidateDelivery, ClaimedDelivery, DecidedDelivery } from '#src/engine/delivery-stages.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import type { WorkQueue } from '#src/engine/queue/work-queue.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import type { ClaimWrite, EndWrite, LoadedDelivery } from '#src/ports/store.ts';

export interface Decisions {
  readonly claims: ClaimedDelivery[];
  /** The drafts of claims whose payload was read already. */
  readonly drafts: Map<DeliveryId, Draft | Unsendable>;
  readonly ends: DecidedDelivery<EndWrite>[];
  readonly deferrals: DecidedDelivery<Delivery>[];
  /** Claims and ends whose recurring schedules go on past missed occurrences, because they were taken up too late. */
  readonly downtimeSkips: Set<DueDelivery>;
}

export interface DeciderDependencies extends Pick<EngineDependencies, 'clock' | 'ids' | 'log' | 'node'> {
  readonly gates: Gates;
  readonly queue: WorkQueue;
}

export class Decider {
  readonly #dependencies: DeciderDependencies;

  constructor(dependencies: DeciderDependencies) {
    this.#dependencies = dependencies;
  }

  /** The gates of the candidates must be held by `Gates.pin` until this returns. */
  decide(candidates: readonly CandidateDelivery[]): Decisions {
    const { clock, log, queue } = this.#dependencies;
    const decisions: Decisions = {
      claims: [],
      drafts: new Map(),
      ends: [],
      deferrals: [],
      downtimeSkips: new Set(),
    };
    const now = clock.now();
    for (const candidate of candidates) {
      const { due } = candidate;
      if (queue.isClosed) {
        queue.release(due);
        continue;
      }
      try {
        this.#decide(candidate, now, decisions);
      } catch (error) {
        // A delivery that cannot be judged must not stop the others.
        log.error({ delivery: due.id, error: String(error) }, 'a delivery could not be judged');
        queue.release(due);
      }
    }
    return decisions;
  }

  #decide(candidate: CandidateDelivery, now: Instant, decisions: Decisions): void {
    const { gates, queue } = this.#dependencies;
    const { due, epoch, loaded, isPrefetched } = candidate;
    const { delivery } = loaded;
    // The prefetcher compared a prefetched delivery when it read it.
    const seen = isPrefetched ? due : dueDeliveryOf(delivery);
    if (seen !== null && seen.endpoint !== due.endpoint) {
      // Its endpoint has changed since it was queued, so it belongs into another queue.
      queue.release(due);
      queue.due(seen);
      return;
    }
    gates.forgetDeferred(due);
    if (seen === null) {
      // It does not wait any more. Its endpoint may have changed too, and then the gate is that of another endpoint.
      queue.release(due);
      return;
    }
    const before = gates.get(due, loaded.gate);
    const verdict = decideDispatch(delivery, before, termsFor(loaded), now, loaded.sweep);
    switch (verdict.kind) {
      case 'gone':
        queue.release(due);
        return;
      case 'not_yet':
        queue.release(due);
        queue.due(seen);
        return;
      case 'end': {
        const write = this.#endWrite(loaded, verdict.why, now);
        decisions.ends.push({ due, epoch, isPrefetched, write, hasToken: false });
        if (this.#skipsForDowntime(due, loaded, write.advanced)) decisions.downtimeSkips.add(due);
        return;
      }
      case 'defer': {
        const write = defer(delivery, verdict.until, verdict.reserved);
        const hasToken = gates.recordDecision(due, before, verdict.gate);
        decisions.deferrals.push({ due, epoch, isPrefetched, write, hasToken });
        return;
      }
      case 'send': {
        const { gate, probe } = verdict;
        const probeOf = probe ? gate.breaker.openUntil : null;
        const write = this.#claimWrite(loaded, now);
        const attempt = attemptInFlight(write.delivery);
        const hasToken = gates.recordDecision(due, before, gate);
        decisions.claims.push({ due, epoch, loaded, isPrefetched, probeOf, write, attempt, hasToken });
        if (this.#skipsForDowntime(due, loaded, write.advanced)) decisions.downtimeSkips.add(due);
        if (candidate.draft !== null) decisions.drafts.set(due.id, candidate.draft);
      }
    }
  }

  /** Only overdue deliveries pay for the answer. One that was deferred or moved is not late because of a downtime. */
  #skipsForDowntime(
    due: DueDelivery,
    { delivery, schedule }: LoadedDelivery,
    advanced: Advance | null,
  ): boolean {
    if (schedule === null || advanced === null) return false;
    if (!this.#dependencies.queue.wasOverdue(due)) return false;
    const isAtItsInstant = delivery.dueAt === delivery.scheduledFor && delivery.movedFrom === null;
    return isAtItsInstant && skipsOccurrences(schedule, delivery, advanced.schedule);
  }

  #endWrite(loaded: LoadedDelivery, why: 'expired' | 'exhausted', now: Instant): EndWrite {
    const { delivery, schedule, profile } = loaded;
    const nextId = this.#dependencies.ids.mint('dlv', now);
    const ended = endUnsent(delivery, why, now);
    return {
      delivery: ended,
      completed: scheduleLife.completedBy(schedule, ended, now),
      advanced: scheduleLife.advance(schedule, profile, delivery, nextId, now),
    };
  }

  #claimWrite(loaded: LoadedDelivery, now: Instant): ClaimWrite {
    const { ids, node } = this.#dependencies;
    const attempt = ids.mint('att', now);
    const delivery = ids.mint('dlv', now);
    return scheduleLife.claim(loaded.delivery, loaded, node, { attempt, delivery }, now);
  }
}
