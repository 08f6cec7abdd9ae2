/**
 * Works on one bulk replay job in short steps. First it gathers pages of deliveries. Then it visits the endpoints that
 * have items left, round after round: each visit replays as many items as the budget of the endpoint allows now, at
 * most one batch, so that no endpoint waits for another.
 */

import type { Delivery } from '#src/domain/delivery.ts';
import { isReplayable, replay } from '#src/domain/delivery-lifecycle.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { Instant } from '#src/domain/instant.ts';
import {
  acquireLease,
  gathered,
  isOpen,
  itemsLeft,
  REPLAY_LEASE_MS,
  type ReplayItem,
  type ReplayJob,
  replayed,
  withinItemLimit,
} from '#src/domain/replay-job.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { cachedEndpointKey, dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import type { Hints } from '#src/ports/hints.ts';
import { canQuote } from '#src/ports/notifications.ts';
import type { ItemReplay, ReplayJobStore } from '#src/ports/replay-job-store.ts';
import type { Store } from '#src/ports/store.ts';
import type { ReplayBudgets } from './replay-budgets.ts';

const GATHER_PAGE_MAX = 250;
/** The pause between two pages, so that due work does not wait for the store. */
const GATHER_PAUSE_MS = 50;
const ENDPOINT_PAGE_MAX = 50;
const REPLAY_BATCH_MAX = 50;
/** The longest wait for a token, so that a change of the budget is noticed and the lease is renewed in between. */
const TOKEN_WAIT_MS_MAX = 1_000;
const RENEW_BEFORE_MS = REPLAY_LEASE_MS / 2;

export interface ReplayJobWorkerDependencies extends Pick<EngineDependencies, 'clock' | 'ids' | 'node'> {
  readonly store: Pick<Store, 'listDeliveries' | 'findDelivery'> & { readonly jobs: ReplayJobStore };
  readonly budgets: ReplayBudgets;
  /** Receives a hint for every replay. */
  readonly hints: Pick<Hints, 'due'>;
}

/**
 * Every write is guarded by the revision of the job. A stale write changes nothing: the job is read again, and the work
 * ends when the job has ended or another node has it.
 */
export class ReplayJobWorker {
  readonly #dependencies: ReplayJobWorkerDependencies;
  #job: ReplayJob;
  /** The endpoint that this round has reached; null at its start. */
  #after: EndpointKey | null = null;
  #hasReplayedInRound = false;
  /** The earliest instant at which an endpoint of this round gets a token. */
  #nextTokenAt: Instant | null = null;

  constructor(dependencies: ReplayJobWorkerDependencies, job: ReplayJob) {
    this.#dependencies = dependencies;
    this.#job = job;
  }

  get job(): ReplayJob {
    return this.#job;
  }

  /** Takes over a newer version of the job that was read from the store. */
  refresh(job: ReplayJob): void {
    if (job.revision > this.#job.revision) this.#job = job;
  }

  /** Returns the wait until the next step in milliseconds; null when this node has nothing more to do for the job. */
  async step(): Promise<number | null> {
    const { leaseUntil } = this.#job;
    if ((leaseUntil ?? 0) - this.#dependencies.clock.now() < RENEW_BEFORE_MS) return this.#renewLease();
    return this.#job.state === 'gathering' ? this.#gather() : this.#visitEndpoints();
  }

  #renewLease(): Promise<number | null> {
    const { store, node, clock } = this.#dependencies;
    const next = acquireLease(this.#job, node, clock.now());
    return this.#afterWrite(next, store.jobs.replaceJob(next), 0);
  }

  async #gather(): Promise<number | null> {
    const { store, clock } = this.#dependencies;
    const { partition, filter, cursor } = this.#job;
    const page = await store.listDeliveries(partition, filter, { before: cursor, limit: GATHER_PAGE_MAX });
    const items = withinItemLimit(this.#job, page).map(itemOf);
    const next = gathered(this.#job, items, page.length < GATHER_PAGE_MAX, clock.now());
    return this.#afterWrite(next, store.jobs.gather(next, items), GATHER_PAUSE_MS);
  }

  /** Goes on to the next endpoint that may get a replay now. */
  async #visitEndpoints(): Promise<number | null> {
    const { partition, id } = this.#job;
    const { store, budgets } = this.#dependencies;
    const endpoints = await store.jobs.listItemEndpoints(partition, id, this.#after, ENDPOINT_PAGE_MAX);
    if (endpoints.length === 0) return this.#after === null ? this.#skipMissingItems() : this.#endRound();
    for (const endpoint of endpoints) {
      this.#after = endpoint;
      const { count, nextAt } = await budgets.allowed({ partition, endpoint });
      if (count > 0) return this.#replay(endpoint, Math.min(count, REPLAY_BATCH_MAX));
      if (nextAt === null) return this.#skipItems(endpoint);
      if (this.#nextTokenAt === null || nextAt < this.#nextTokenAt) this.#nextTokenAt = nextAt;
    }
    return 0;
  }

  /** The next round begins at once if this one replayed something, else when one of the endpoints gets a token. */
  #endRound(): number {
    const { clock } = this.#dependencies;
    const nextAt = this.#hasReplayedInRound ? null : this.#nextTokenAt;
    const waitMs = nextAt === null ? 0 : nextAt - clock.now();
    this.#after = null;
    this.#hasReplayedInRound = false;
    this.#nextTokenAt = null;
    return Math.min(Math.max(waitMs, 0), TOKEN_WAIT_MS_MAX);
  }

  async #replay(endpoint: EndpointKey, count: number): Promise<number | null> {
    const { store, clock, ids, hints, budgets } = this.#dependencies;
    const { partition } = this.#job;
    const items = await store.jobs.listItems(partition, this.#job.id, endpoint, count);
    const originals = await Promise.all(items.map((item) => this.#findReplayable(item)));
    const now = clock.now();
    const replays = items.map((item, index): ItemReplay => {
      const original = originals[index] ?? null;
      return { item, replay: original && replay(original, ids.mint('dlv', now), now) };
    });
    const made = replays.flatMap((one) => (one.replay === null ? [] : [one.replay]));
    // Tokens are spent before the write, because the write may succeed although its answer is lost.
    budgets.spend({ partition, endpoint }, made.length);
    this.#hasReplayedInRound = true;
    return this.#writeReplays(replays, made.length, () => {
      for (const one of made) hints.due(dueDeliveryOf(one));
    });
  }

  async #findReplayable({ deliveryId }: ReplayItem): Promise<Delivery | null> {
    const { store } = this.#dependencies;
    const original = await store.findDelivery(this.#job.partition, deliveryId);
    if (original === null || !isReplayable(original.status)) return null;
    return (await canQuote(store, original)) ? original : null;
  }

  /** No token can ever come for this endpoint. Its items must not keep the job open. */
  async #skipItems(endpoint: EndpointKey): Promise<number | null> {
    const { partition, id } = this.#job;
    const { jobs } = this.#dependencies.store;
    const items = await jobs.listItems(partition, id, endpoint, REPLAY_BATCH_MAX);
    this.#hasReplayedInRound = true;
    return this.#writeReplays(
      items.map((item) => ({ item, replay: null })),
      0,
    );
  }

  /** Rows of items were removed by hand, so the job counts more items than there are. */
  #skipMissingItems(): Promise<number | null> {
    const { store, clock } = this.#dependencies;
    const next = replayed(this.#job, 0, itemsLeft(this.#job), clock.now());
    return this.#afterWrite(next, store.jobs.replaceJob(next), 0);
  }

  #writeReplays(replays: readonly ItemReplay[], made: number, onDone?: () => void): Promise<number | null> {
    const { store, clock } = this.#dependencies;
    const next = replayed(this.#job, made, replays.length - made, clock.now());
    return this.#afterWrite(next, store.jobs.replayItems(next, replays), 0, onDone);
  }

  /** Returns the wait until the next step, after a write that makes the job `next`. */
  async #afterWrite(
    next: ReplayJob,
    writing: Promise<'done' | 'stale'>,
    waitMs: number,
    onDone?: () => void,
  ): Promise<number | null> {
    if ((await writing) === 'done') {
      this.#job = next;
      onDone?.();
      return isOpen(next) ? waitMs : null;
    }
    const { store, node } = this.#dependencies;
    const current = await store.jobs.findJob(this.#job.partition, this.#job.id);
    if (current === null || !isOpen(current) || current.runner !== node) return null;
    this.#job = current;
    return waitMs;
  }
}

function itemOf({ id, target }: Delivery): ReplayItem {
  return { deliveryId: id, endpoint: cachedEndpointKey(target) };
}
