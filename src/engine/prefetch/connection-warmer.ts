/**
 * Connections for what is about to be due: each customer gets as many to an origin as it has requests to it within a
 * moment, within bounds. What a handshake takes is then over before the instant, and not after it. Of those that a rate
 * limit keeps apart one goes at that instant, and each of the others is expected when its turn is reserved.
 */
import { type DueDelivery, endpointRefKey } from '#src/domain/due.ts';
import { gateTerms } from '#src/domain/gate.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import type { Egress } from '#src/ports/egress.ts';
import type { Ready } from './prefetcher.ts';

/** Requests that lie so close together may need a connection each. */
const MOMENT_MS = 10;
/** To one origin, for one customer. Where that is not enough, more are opened as they are needed. */
export const CONNECTIONS_MAX = 64;

interface Expected {
  /** Its origin, and no more of it. */
  readonly url: URL;
  /** The customer they are for. */
  readonly customer: Partition;
  moment: number;
  /** In that moment. */
  requests: number;
  /** The endpoints with a rate limit that one of them goes to. */
  readonly paced: Set<string>;
  /** The most that are needed in any of the moments seen since they were asked for. */
  connections: number;
  /** For the last moment. */
  asked: number;
}

export class ConnectionWarmer {
  readonly #egress: Pick<Egress, 'warm'>;
  readonly #gates: Pick<Gates, 'isBreakerOpen'>;
  /** By customer and origin: since `rise` was called last, and before that. */
  #expected = new Map<string, Expected>();
  #before: ReadonlyMap<string, Expected> = new Map();

  constructor(egress: Pick<Egress, 'warm'>, gates: Pick<Gates, 'isBreakerOpen'>) {
    this.#egress = egress;
    this.#gates = gates;
  }

  expect({ due, work }: Ready): void {
    // An open breaker lets nothing through but a probe.
    if (this.#gates.isBreakerOpen(due, work.gate)) return;
    const moment = Math.floor(due.dueAt / MOMENT_MS);
    const key = `${due.partition} ${due.origin}`;
    const known = this.#expected.get(key) ?? this.#before.get(key);
    const one = known ?? nothingExpected(due, moment);
    if (one === null) return;
    this.#expected.set(key, one);
    if (one.moment !== moment) {
      one.moment = moment;
      one.requests = 0;
      one.paced.clear();
      one.asked = 0;
    }
    if (one.requests >= CONNECTIONS_MAX) return;
    const { rateLimit } = gateTerms(work.profile, work.schedule.rateLimit);
    if (rateLimit !== null && !work.delivery.reserved) {
      if (one.paced.has(endpointRefKey(due))) return;
      one.paced.add(endpointRefKey(due));
    }
    one.requests++;
    one.connections = Math.max(one.connections, one.requests);
  }

  /** Asks for what is expected by now. */
  rise(): void {
    for (const one of this.#expected.values()) {
      if (one.connections > one.asked) this.#egress.warm(one.url, one.connections, one.customer);
      one.asked = Math.max(one.asked, one.connections);
      one.connections = 0;
    }
    this.#before = this.#expected;
    this.#expected = new Map();
  }
}

/** Null for an origin that is no more than the text of a URL that cannot be read. */
function nothingExpected({ origin, partition }: DueDelivery, moment: number): Expected | null {
  const url = URL.parse(origin);
  return url && { url, customer: partition, moment, requests: 0, paced: new Set(), connections: 0, asked: 0 };
}
