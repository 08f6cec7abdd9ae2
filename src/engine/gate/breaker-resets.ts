/**
 * What people order of gates: to close a breaker. The order lies in the store, where whoever dispatches the endpoint
 * finds it within a second and carries it out, whether or not it has anything to do with that endpoint now.
 *
 * What the breaker deferred goes out at once. Gates remember only so many of those, and none from before a restart;
 * but all of them are due at the very instant at which its window ends, or the wait for its probe, and so they are
 * found in the store by that instant. What was meant for that instant anyway is left alone.
 *
 * The breaker is closed when all of that is known, without a wait in between, and the order is removed when the gate
 * is saved: until then it is carried out again, which does no harm.
 */
import type { Breaker } from '#src/domain/breaker.ts';
import { isDeferred } from '#src/domain/delivery-lifecycle.ts';
import type { DueDelivery, EndpointRef } from '#src/domain/due-delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { type SlotOwnership, slotOfEndpoint } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { BreakerReset } from '#src/ports/insight-store.ts';
import type { LoadedDelivery } from '#src/ports/store.ts';
import type { Gates } from './gates.ts';
import { releaseDeferred } from './release-deferred.ts';

const EVERY_MS = 1_000;
const ORDERS_MAX = 200;
/** Due at one instant, whatever their endpoint. What is beyond waits for the end of the window. */
const LOOKED_AT_MAX = 20_000;
const LOOKED_AT_TOGETHER_MAX = 500;
const READ_TOGETHER_MAX = 64;

/** Sorts before every other. */
const FIRST_ID = '' as DeliveryId;

export interface BreakerResetsDependencies
  extends Pick<EngineDependencies, 'store' | 'insight' | 'clock' | 'timers' | 'log'> {
  readonly ownership: SlotOwnership;
  readonly gates: Gates;
  readonly queue: Pick<Hints, 'due'>;
}

export class BreakerResets {
  readonly #dependencies: BreakerResetsDependencies;
  #callOff: (() => void) | null = null;
  #looking: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(dependencies: BreakerResetsDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    if (this.#isStopped) return;
    this.#callOff = this.#dependencies.timers.after(EVERY_MS, () => {
      this.#looking = this.#look().then(() => this.start());
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#callOff?.();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { insight, log } = this.#dependencies;
    try {
      for (const order of await insight.listBreakerResets(ORDERS_MAX)) {
        if (!this.#isStopped) await this.#carryOut(order);
      }
    } catch (error) {
      log.warn({ error: String(error) }, 'requested breaker resets could not be done: they are tried again');
    }
  }

  async #carryOut(order: BreakerReset): Promise<void> {
    const { insight, clock, log, ownership, gates } = this.#dependencies;
    const epoch = ownership.epochOf(order);
    if (epoch === null) return;
    const isAlive = ownership.watchLease();
    gates.pin([order]);
    try {
      const read = await insight.findGate(order.partition, order.endpoint);
      // The gate that was read is of the epoch in which it was asked for.
      if (ownership.epochOf(order) !== epoch) return;
      const found = await this.#deferredBy(gates.get(order, read).breaker, order);
      if (ownership.epochOf(order) !== epoch) return;
      const deferred = gates.resetBreaker(order, clock.now());
      const toRelease = new Map([...found, ...deferred].map((due) => [due.id, due]));
      await releaseDeferred(this.#dependencies, [...toRelease.values()]);
      await gates.saveOne(order);
    } finally {
      gates.unpin([order]);
    }
    // What is saved under a hold that is over is not saved, and a process that stood still may not know that it is.
    if (!ownership.isOwnedSince(order, epoch) || !isAlive()) return;
    await insight.removeBreakerReset(order);
    const { partition, endpoint } = order;
    // Of a URL only the host: the rest may hold what is secret.
    log.info(
      { partition, endpoint: URL.parse(endpoint)?.host ?? endpoint },
      'a breaker was reset on request',
    );
  }

  /** Waiting deliveries that this breaker deferred. */
  async #deferredBy({ openUntil, probeUntil }: Breaker, ref: EndpointRef): Promise<readonly DueDelivery[]> {
    const now = this.#dependencies.clock.now();
    const found: DueDelivery[] = [];
    for (const until of new Set([openUntil, probeUntil])) {
      if (until !== null && until > now) found.push(...(await this.#deferredTo(until, ref)));
    }
    return found;
  }

  async #deferredTo(until: Instant, ref: EndpointRef): Promise<readonly DueDelivery[]> {
    const { store } = this.#dependencies;
    const slots =
      this.#dependencies.ownership.slots === undefined ? undefined : new Set([slotOfEndpoint(ref)]);
    const found: DueDelivery[] = [];
    let after: Pick<DueDelivery, 'dueAt' | 'id'> = { dueAt: until, id: FIRST_ID };
    for (let lookedAt = 0; lookedAt < LOOKED_AT_MAX && !this.#isStopped; ) {
      const page = await store.listDue(after, until, LOOKED_AT_TOGETHER_MAX, slots);
      const ours = page.filter((due) => due.endpoint === ref.endpoint && due.partition === ref.partition);
      for (let at = 0; at < ours.length; at += READ_TOGETHER_MAX) {
        found.push(...(await this.#onlyDeferred(ours.slice(at, at + READ_TOGETHER_MAX))));
      }
      after = page.at(-1) ?? after;
      if (page.length < LOOKED_AT_TOGETHER_MAX) break;
      lookedAt += page.length;
    }
    return found;
  }

  async #onlyDeferred(dues: readonly DueDelivery[]): Promise<readonly DueDelivery[]> {
    const works = await this.#dependencies.store.loadDeliveries(dues);
    const defer = await Promise.all(works.map((work) => this.#wasDeferred(work)));
    return dues.filter((_, index) => defer[index]);
  }

  async #wasDeferred(work: LoadedDelivery | null): Promise<boolean> {
    if (work === null) return false;
    const { delivery } = work;
    const { partition, id, attemptCount } = delivery;
    if (attemptCount === 0) return isDeferred(delivery, null);
    const [last] = await this.#dependencies.store.listAttempts(partition, id, attemptCount - 1, 1);
    return isDeferred(delivery, last?.finishedAt ?? null);
  }
}
