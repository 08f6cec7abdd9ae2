/**
 * Resets breakers on request. A person requests a reset in the dashboard, and the request is stored. The process that
 * dispatches the endpoint finds it within a second and closes the breaker, also when it has no work for the endpoint.
 *
 * The deliveries that the breaker deferred are released at once. Gates remember a limited number of them, and none from
 * before a restart. But all of them are due exactly when the window ends, or when the wait for the probe ends, so they
 * are found in the store by that instant. Deliveries that were scheduled for that instant anyway are left alone.
 *
 * The breaker is closed after these deliveries were found, with no wait in between. The request is removed once the
 * gate is saved. Until then the reset is done again, which does no harm.
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
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import type { LoadedDelivery } from '#src/ports/store.ts';
import type { Gates } from './gates.ts';
import { releaseDeferred } from './release-deferred.ts';

const SCAN_EVERY_MS = 1_000;
const REQUESTS_MAX = 200;
/** Rows that are due at one instant, of all endpoints. Deliveries beyond wait for the end of the window. */
const ROWS_MAX = 20_000;
const PAGE_ROWS = 500;
const BATCH_MAX = 64;

/** Sorts before every id. */
const FIRST_ID = '' as DeliveryId;

export interface BreakerResetsDependencies
  extends Pick<EngineDependencies, 'store' | 'insight' | 'clock' | 'timers' | 'log'> {
  readonly ownership: SlotOwnership;
  readonly gates: Gates;
  readonly queue: Pick<Hints, 'due'>;
}

/** A request is removed only while this process owns the slot without a gap since it read the gate. */
export class BreakerResets {
  readonly #dependencies: BreakerResetsDependencies;
  readonly #task: PeriodicTask;

  constructor(dependencies: BreakerResetsDependencies) {
    this.#dependencies = dependencies;
    this.#task = new PeriodicTask(
      dependencies.timers,
      () => this.#scan(),
      (error) => {
        dependencies.log.warn(
          { error: String(error) },
          'requested breaker resets could not be done: they are tried again',
        );
        return SCAN_EVERY_MS;
      },
    );
  }

  start(): void {
    this.#task.runWithin(SCAN_EVERY_MS);
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async #scan(): Promise<number> {
    for (const request of await this.#dependencies.insight.listBreakerResets(REQUESTS_MAX)) {
      if (!this.#task.isStopped) await this.#reset(request);
    }
    return SCAN_EVERY_MS;
  }

  async #reset(request: BreakerReset): Promise<void> {
    const { insight, clock, log, ownership, gates } = this.#dependencies;
    const epoch = ownership.epochOf(request);
    if (epoch === null) return;
    const isLeaseUnbroken = ownership.watchLease();
    gates.pin([request]);
    try {
      const stored = await insight.findGate(request.partition, request.endpoint);
      // The gate that was read belongs to the epoch in which the read began.
      if (ownership.epochOf(request) !== epoch) return;
      const found = await this.#findDeferred(gates.get(request, stored).breaker, request);
      if (ownership.epochOf(request) !== epoch) return;
      const remembered = gates.resetBreaker(request, clock.now());
      const deferred = new Map([...found, ...remembered].map((due) => [due.id, due]));
      await releaseDeferred(this.#dependencies, [...deferred.values()]);
      await gates.saveOne(request);
    } finally {
      gates.unpin([request]);
    }
    // The store ignores a save under an old fence, and a process that was paused may not know that its fence is old.
    if (!ownership.isOwnedSince(request, epoch) || !isLeaseUnbroken()) return;
    await insight.removeBreakerReset(request);
    const { partition, endpoint } = request;
    // Only the host of a URL is logged, because the rest may hold secrets.
    log.info(
      { partition, endpoint: URL.parse(endpoint)?.host ?? endpoint },
      'a breaker was reset on request',
    );
  }

  /** Returns the waiting deliveries that this breaker deferred. */
  async #findDeferred({ openUntil, probeUntil }: Breaker, ref: EndpointRef): Promise<readonly DueDelivery[]> {
    const now = this.#dependencies.clock.now();
    const found: DueDelivery[] = [];
    for (const until of new Set([openUntil, probeUntil])) {
      if (until !== null && until > now) found.push(...(await this.#findDeferredTo(until, ref)));
    }
    return found;
  }

  async #findDeferredTo(until: Instant, ref: EndpointRef): Promise<readonly DueDelivery[]> {
    const { store, ownership } = this.#dependencies;
    const slots = ownership.slots === undefined ? undefined : new Set([slotOfEndpoint(ref)]);
    const found: DueDelivery[] = [];
    let after: Pick<DueDelivery, 'dueAt' | 'id'> = { dueAt: until, id: FIRST_ID };
    for (let rows = 0; rows < ROWS_MAX && !this.#task.isStopped; ) {
      const page = await store.listDue(after, until, PAGE_ROWS, slots);
      const ours = page.filter((due) => due.endpoint === ref.endpoint && due.partition === ref.partition);
      for (let at = 0; at < ours.length; at += BATCH_MAX) {
        found.push(...(await this.#onlyDeferred(ours.slice(at, at + BATCH_MAX))));
      }
      after = page.at(-1) ?? after;
      if (page.length < PAGE_ROWS) break;
      rows += page.length;
    }
    return found;
  }

  async #onlyDeferred(dues: readonly DueDelivery[]): Promise<readonly DueDelivery[]> {
    const loaded = await this.#dependencies.store.loadDeliveries(dues);
    const areDeferred = await Promise.all(loaded.map((one) => this.#isDeferred(one)));
    return dues.filter((_, index) => areDeferred[index]);
  }

  async #isDeferred(loaded: LoadedDelivery | null): Promise<boolean> {
    if (loaded === null) return false;
    const { delivery } = loaded;
    const { partition, id, attemptCount } = delivery;
    if (attemptCount === 0) return isDeferred(delivery, null);
    const [last] = await this.#dependencies.store.listAttempts(partition, id, attemptCount - 1, 1);
    return isDeferred(delivery, last?.finishedAt ?? null);
  }
}
