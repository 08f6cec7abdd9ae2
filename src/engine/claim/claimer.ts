/**
 * Takes a batch of due deliveries to their attempts: it loads those that were not prefetched, has each decided by its
 * gate, and has the decisions written.
 *
 * A small payload is read while its claim is being written. A large one is read before its delivery is claimed, and
 * the batch does not wait for it. A delivery is claimed only when its large payload is in memory. If the large
 * payload cannot be read, the delivery is decided again a moment later.
 */

import type { Delivery } from '#src/domain/delivery.ts';
import { decideDispatch } from '#src/domain/dispatch.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { termsFor } from '#src/domain/gate.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { asSentNext } from '#src/domain/notification.ts';
import {
  type Draft,
  SMALL_PAYLOAD_BYTES_MAX,
  UNREADABLE,
  type Unsendable,
} from '#src/engine/attempt/request-builder.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { CandidateDelivery } from '#src/engine/delivery-stages.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';
import type { Prefetcher } from '#src/engine/prefetch/prefetcher.ts';
import type { BatchesInFlight } from '#src/engine/queue/batches-in-flight.ts';
import type { ClaimPause } from '#src/engine/queue/claim-pause.ts';
import type { WorkQueue } from '#src/engine/queue/work-queue.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import { type LoadedDelivery, StoreUnavailable } from '#src/ports/store.ts';
import type { Decider } from './decider.ts';
import type { DecisionWriter } from './decision-writer.ts';
import type { LargePayloads } from './large-payloads.ts';

/** Deliveries that are read and written in one step. */
export const BATCH_MAX = 64;
/** A large payload that could not be read is read again after this time. */
const READ_AGAIN_MS = 500;

export interface ClaimerDependencies extends Pick<EngineDependencies, 'store' | 'clock' | 'timers' | 'log'> {
  readonly ownership: SlotOwnership;
  readonly gates: Gates;
  readonly queue: WorkQueue;
  readonly claimPause: ClaimPause;
  readonly batches: BatchesInFlight;
  readonly prefetcher: Prefetcher;
  readonly payloads: LargePayloads;
  readonly decider: Decider;
  readonly writer: DecisionWriter;
}

export class Claimer {
  readonly #dependencies: ClaimerDependencies;
  readonly #payloadOutage: OutageLog;

  constructor(dependencies: ClaimerDependencies) {
    this.#dependencies = dependencies;
    this.#payloadOutage = warnsOfOutage(
      dependencies,
      'a payload could not be read',
      'payloads are read again',
    );
  }

  /**
   * Every delivery of the batch holds its permits, which are given back as soon as it is clear that it is not sent.
   * Resolves when all of them are decided, those with large payloads excepted. Never rejects.
   *
   * If the store works by customer, a part of a write may fail while the others are stored. The deliveries of each
   * customer are therefore claimed apart: a failure says something about all of them.
   */
  async claim(batch: readonly DueDelivery[]): Promise<void> {
    if (!this.#dependencies.store.worksByCustomer) return this.#claim(batch);
    const ofCustomers = Map.groupBy(batch, ({ partition }) => partition);
    await Promise.all([...ofCustomers.values()].map((dues) => this.#claim(dues)));
  }

  async #claim(batch: readonly DueDelivery[]): Promise<void> {
    const { ownership, gates, queue, prefetcher } = this.#dependencies;
    const candidates: CandidateDelivery[] = [];
    const unloaded: DueDelivery[] = [];
    const outdated = new Map<DeliveryId, CandidateDelivery>();
    for (const due of batch) {
      if (ownership.epochOf(due) === null) {
        queue.release(due);
        continue;
      }
      const prefetched = prefetcher.take(due);
      if (prefetched !== null && !dependsOnProfile(prefetched.loaded)) {
        candidates.push({ ...prefetched, due });
        continue;
      }
      // An endpoint profile may have changed without a trace in the delivery, so it is read again.
      if (prefetched !== null) {
        gates.unpin([due]);
        outdated.set(due.id, prefetched);
      }
      unloaded.push(due);
    }
    await Promise.all([this.#decideAll(candidates), this.#load(unloaded, outdated)]);
  }

  /** The draft of an outdated candidate is still good where the delivery has not changed since. */
  async #load(
    dues: readonly DueDelivery[],
    outdated: ReadonlyMap<DeliveryId, CandidateDelivery>,
  ): Promise<void> {
    if (dues.length === 0) return;
    const { store, ownership, gates, queue, claimPause } = this.#dependencies;
    const epochs = dues.map((due) => ownership.epochOf(due));
    let allLoaded: readonly (LoadedDelivery | null)[];
    gates.pin(dues);
    try {
      allLoaded = await store.loadDeliveries(dues);
    } catch (error) {
      gates.unpin(dues);
      for (const due of dues) queue.release(due);
      claimPause.storeFailed(error);
      return;
    }
    const candidates: CandidateDelivery[] = [];
    for (const [index, due] of dues.entries()) {
      const loaded = asSent(allLoaded[index] ?? null);
      const epoch = epochs[index] ?? null;
      // The gate that was read belongs to the epoch in which it was asked for.
      if (loaded !== null && epoch !== null && ownership.epochOf(due) === epoch) {
        const before = outdated.get(due.id);
        const isSame = before !== undefined && isSameRequest(before.loaded.delivery, loaded.delivery);
        const draft = isSame ? before.draft : null;
        candidates.push({ due, epoch, loaded, draft, isPrefetched: false });
      } else {
        gates.unpin([due]);
        queue.release(due);
      }
    }
    await this.#decideAll(candidates);
  }

  async #decideAll(candidates: readonly CandidateDelivery[]): Promise<void> {
    const now = this.#dependencies.clock.now();
    const complete: CandidateDelivery[] = [];
    for (const candidate of candidates) {
      if (!this.#needsPayload(candidate, now)) complete.push(candidate);
      else this.#dependencies.batches.addLargeDelivery(this.#decideLarge(candidate));
    }
    await this.#decide(complete);
  }

  async #decide(candidates: readonly CandidateDelivery[]): Promise<void> {
    if (candidates.length === 0) return;
    const { gates, decider, writer } = this.#dependencies;
    const decisions = decider.decide(candidates);
    gates.unpin(candidates.map(({ due }) => due));
    await writer.write(decisions);
  }

  /** A large payload is read only for a delivery that would be sent as things are. */
  #needsPayload({ due, loaded, draft, isPrefetched }: CandidateDelivery, now: Instant): boolean {
    const { gates, queue } = this.#dependencies;
    if (draft !== null || due.payloadBytes <= SMALL_PAYLOAD_BYTES_MAX || queue.isClosed) return false;
    const { delivery } = loaded;
    if (!isPrefetched && dueDeliveryOf(delivery)?.endpoint !== due.endpoint) return false;
    const gate = gates.get(due, loaded.gate);
    return decideDispatch(delivery, gate, termsFor(loaded), now, loaded.sweep).kind === 'send';
  }

  async #decideLarge(candidate: CandidateDelivery): Promise<void> {
    const { clock, gates, queue } = this.#dependencies;
    const { due } = candidate;
    const draft = await this.#payloadOf(candidate);
    if (draft !== null && draft !== 'unavailable' && this.#isWanted(candidate)) {
      await this.#decide([{ ...candidate, draft }]);
      return;
    }
    gates.unpin([due]);
    queue.release(due);
    if (draft === 'unavailable') queue.due({ ...due, dueAt: instant(clock.now() + READ_AGAIN_MS) });
  }

  /** Null when the delivery is not wanted any more. */
  async #payloadOf(candidate: CandidateDelivery): Promise<Draft | Unsendable | 'unavailable' | null> {
    const { due, loaded } = candidate;
    const isWanted = () => this.#isWanted(candidate);
    try {
      const draft = await this.#dependencies.payloads.load(loaded.delivery, isWanted);
      this.#payloadOutage.succeeded();
      return draft;
    } catch (error) {
      this.#payloadOutage.failed({ delivery: due.id, error: String(error) });
      return error instanceof StoreUnavailable ? 'unavailable' : UNREADABLE;
    }
  }

  #isWanted({ due, epoch }: CandidateDelivery): boolean {
    const { ownership, queue } = this.#dependencies;
    return !queue.isClosed && ownership.epochOf(due) === epoch;
  }
}

function asSent(loaded: LoadedDelivery | null): LoadedDelivery | null {
  return loaded && { ...loaded, delivery: asSentNext(loaded.delivery, loaded.endpointProfile) };
}

/** A notification takes the version of its profile without a change of its row. */
function isSameRequest(one: Delivery, other: Delivery): boolean {
  return one.revision === other.revision && one.target.endpointVersion === other.target.endpointVersion;
}

function dependsOnProfile({ profile, endpointProfile }: LoadedDelivery): boolean {
  return profile !== null || endpointProfile !== null;
}
