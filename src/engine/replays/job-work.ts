/**
 * The work on one job that this node holds, in steps that are each over in a moment. First pages of deliveries are
 * gathered. Then the endpoints that items are left for are walked through in turn, again and again: each is given as
 * many replays as its budget allows by now, a batch at a time, so that none waits for another.
 *
 * Every step that changes something is guarded by the job's revision. One that is stale has changed nothing: the job
 * is read again, and where it has ended or is somebody else's by now, this work is over.
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
import { cachedEndpointKey, dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import type { ItemReplay } from '#src/ports/replay-job-store.ts';
import type { Budgets } from './budgets.ts';
import type { ReplayDependencies } from './dependencies.ts';

const GATHERED_TOGETHER_MAX = 250;
/** Between pages: a store that is busy firing must not notice. */
const GATHER_PAUSE_MS = 50;
const ENDPOINTS_LOOKED_AT_MAX = 50;
const REPLAYED_TOGETHER_MAX = 50;
/** For a token. A change of the budget is noticed, and the lease renewed, in between. */
const WAIT_MS_MAX = 1_000;
const RENEW_BEFORE_MS = REPLAY_LEASE_MS / 2;

export class JobWork {
  readonly #dependencies: ReplayDependencies;
  readonly #budgets: Budgets;
  #job: ReplayJob;
  /** Where the walk through the endpoints has come to, and what it has met so far. */
  #after: EndpointKey | null = null;
  #hasReplayed = false;
  #nextAt: Instant | null = null;

  constructor(dependencies: ReplayDependencies, budgets: Budgets, job: ReplayJob) {
    this.#dependencies = dependencies;
    this.#budgets = budgets;
    this.#job = job;
  }

  get job(): ReplayJob {
    return this.#job;
  }

  /** The same job as it was just read. */
  seen(job: ReplayJob): void {
    if (job.revision > this.#job.revision) this.#job = job;
  }

  /** In how many milliseconds the next step may be made; null when there is nothing more to do here. */
  async step(): Promise<number | null> {
    const { leaseUntil } = this.#job;
    if ((leaseUntil ?? 0) - this.#dependencies.clock.now() < RENEW_BEFORE_MS) return this.#renew();
    return this.#job.state === 'gathering' ? this.#gather() : this.#walk();
  }

  #renew(): Promise<number | null> {
    const { store, node, clock } = this.#dependencies;
    const next = acquireLease(this.#job, node, clock.now());
    return this.#moved(next, store.jobs.replaceJob(next), 0);
  }

  async #gather(): Promise<number | null> {
    const { store, clock } = this.#dependencies;
    const { partition, filter, cursor } = this.#job;
    const page = await store.listDeliveries(partition, filter, {
      before: cursor,
      limit: GATHERED_TOGETHER_MAX,
    });
    const items = withinItemLimit(this.#job, page).map(itemOf);
    const next = gathered(this.#job, items, page.length < GATHERED_TOGETHER_MAX, clock.now());
    return this.#moved(next, store.jobs.gather(next, items), GATHER_PAUSE_MS);
  }

  /** To the next endpoint that takes a replay. */
  async #walk(): Promise<number | null> {
    const { partition, id } = this.#job;
    const { jobs } = this.#dependencies.store;
    const endpoints = await jobs.listItemEndpoints(partition, id, this.#after, ENDPOINTS_LOOKED_AT_MAX);
    if (endpoints.length === 0) return this.#after === null ? this.#nothingLeft() : this.#roundEnds();
    for (const endpoint of endpoints) {
      this.#after = endpoint;
      const { count, nextAt } = await this.#budgets.allowed({ partition, endpoint });
      if (count > 0) return this.#replay(endpoint, Math.min(count, REPLAYED_TOGETHER_MAX));
      if (nextAt === null) return this.#passOver(endpoint);
      if (this.#nextAt === null || nextAt < this.#nextAt) this.#nextAt = nextAt;
    }
    return 0;
  }

  /** Begins again with the first, when one of them can take a replay. */
  #roundEnds(): number {
    const waitMs =
      this.#hasReplayed || this.#nextAt === null ? 0 : this.#nextAt - this.#dependencies.clock.now();
    this.#after = null;
    this.#hasReplayed = false;
    this.#nextAt = null;
    return Math.min(Math.max(waitMs, 0), WAIT_MS_MAX);
  }

  async #replay(endpoint: EndpointKey, count: number): Promise<number | null> {
    const { store, clock, ids, hints } = this.#dependencies;
    const { partition } = this.#job;
    const items = await store.jobs.listItems(partition, this.#job.id, endpoint, count);
    const originals = await Promise.all(
      items.map(({ deliveryId }) => store.findDelivery(partition, deliveryId)),
    );
    const now = clock.now();
    const replays = items.map((item, index): ItemReplay => {
      const original = originals[index] ?? null;
      const canBe = original !== null && isReplayable(original.status);
      return { item, replay: canBe ? replay(original, ids.mint('dlv', now), now) : null };
    });
    const made = replays.flatMap((one) => (one.replay === null ? [] : [one.replay]));
    // Before it is known to be stored: an answer that is lost must not be a second chance.
    this.#budgets.spend({ partition, endpoint }, made.length);
    this.#hasReplayed = true;
    return this.#write(replays, made.length, () => {
      for (const one of made) hints.due(dueDeliveryOf(one));
    });
  }

  /** Items of an endpoint whose budget is used up for good: what cannot be replayed must not keep the job open. */
  async #passOver(endpoint: EndpointKey): Promise<number | null> {
    const { partition, id } = this.#job;
    const items = await this.#dependencies.store.jobs.listItems(
      partition,
      id,
      endpoint,
      REPLAYED_TOGETHER_MAX,
    );
    this.#hasReplayed = true;
    return this.#write(
      items.map((item) => ({ item, replay: null })),
      0,
    );
  }

  /** The items are not there, whatever the numbers say: rows were removed by hand. */
  #nothingLeft(): Promise<number | null> {
    const { store, clock } = this.#dependencies;
    const next = replayed(this.#job, 0, itemsLeft(this.#job), clock.now());
    return this.#moved(next, store.jobs.replaceJob(next), 0);
  }

  #write(replays: readonly ItemReplay[], made: number, onDone?: () => void): Promise<number | null> {
    const { store, clock } = this.#dependencies;
    const next = replayed(this.#job, made, replays.length - made, clock.now());
    return this.#moved(next, store.jobs.replayItems(next, replays), 0, onDone);
  }

  /** What comes of a write that makes the job `next`. */
  async #moved(
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
    const now = await store.jobs.findJob(this.#job.partition, this.#job.id);
    if (now === null || !isOpen(now) || now.runner !== node) return null;
    this.#job = now;
    return waitMs;
  }
}

function itemOf({ id, target }: Delivery): ReplayItem {
  return { deliveryId: id, endpoint: cachedEndpointKey(target) };
}
