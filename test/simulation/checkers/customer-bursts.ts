/**
 * While customers share the process, the engine begins a few deliveries of a customer, lets that customer rest, and
 * begins the next few. A delivery may therefore wait for others of its own customer.
 */
import type { Delivery } from '#src/domain/delivery.ts';

/** The number of deliveries of a customer that the engine begins between two rests. */
const BETWEEN_RESTS = 16;
/** A rest grows when timers are late, and a timer of the simulation may be 30 ms late. */
const REST_MS_MAX = 100;
/** Older claims are forgotten, because no delivery waits that long behind a burst. */
const REMEMBERED_MS = 10_000;

export class CustomerBursts {
  readonly #claimedMs = new Map<Delivery['partition'], number[]>();

  claimed({ partition }: Delivery, nowMs: number): void {
    const recent = (this.#claimedMs.get(partition) ?? []).filter((ms) => nowMs - ms < REMEMBERED_MS);
    recent.push(nowMs);
    this.#claimedMs.set(partition, recent);
  }

  /** The longest time that a delivery may have waited since then for others of its customer. */
  waitMsMax({ partition }: Delivery, sinceMs: number): number {
    const claimed = (this.#claimedMs.get(partition) ?? []).filter((ms) => ms >= sinceMs).length;
    return Math.floor(claimed / BETWEEN_RESTS) * REST_MS_MAX;
  }
}
