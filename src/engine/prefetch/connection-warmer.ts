/**
 * Opens connections for deliveries that are about to be due, so that the handshake is over before their instant. Each
 * customer gets as many connections to an origin as it has requests to it within a moment, within bounds. Of deliveries
 * that a rate limit spaces out, one goes at that instant; each of the others counts once its token is reserved.
 */

import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { termsFor } from '#src/domain/gate.ts';
import type { Partition } from '#src/domain/project.ts';
import type { CandidateDelivery } from '#src/engine/delivery-stages.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import type { Egress } from '#src/ports/egress.ts';
import { endpointRefKey } from '#src/ports/endpoint-cache.ts';

/** Requests within this time may need a connection each. */
const MOMENT_MS = 10;
/** Connections to one origin for one customer. More are opened when they are needed. */
export const CONNECTIONS_MAX = 64;

interface Expected {
  /** The URL of the origin alone. */
  readonly url: URL;
  readonly customer: Partition;
  moment: number;
  /** Requests in that moment. */
  requests: number;
  /** Endpoints with a rate limit that have a request in that moment. */
  readonly rateLimited: Set<string>;
  /** The most connections that a moment needs, of those seen since the last `warm`. */
  connections: number;
  /** Connections that were asked for, for the last moment. */
  asked: number;
}

export class ConnectionWarmer {
  readonly #egress: Pick<Egress, 'warm'>;
  readonly #gates: Pick<Gates, 'isBreakerOpen'>;
  /** Expected requests by customer and origin: those seen since the last `warm`, and those before it. */
  #expected = new Map<string, Expected>();
  #before: ReadonlyMap<string, Expected> = new Map();

  constructor(egress: Pick<Egress, 'warm'>, gates: Pick<Gates, 'isBreakerOpen'>) {
    this.#egress = egress;
    this.#gates = gates;
  }

  expect({ due, loaded }: CandidateDelivery): void {
    // An open breaker lets nothing through but a probe.
    if (this.#gates.isBreakerOpen(due, loaded.gate)) return;
    const moment = Math.floor(due.dueAt / MOMENT_MS);
    const key = `${due.partition} ${due.origin}`;
    const known = this.#expected.get(key) ?? this.#before.get(key);
    const one = known ?? newExpected(due, moment);
    if (one === null) return;
    this.#expected.set(key, one);
    if (one.moment !== moment) {
      one.moment = moment;
      one.requests = 0;
      one.rateLimited.clear();
      one.asked = 0;
    }
    if (one.requests >= CONNECTIONS_MAX) return;
    const { rateLimit } = termsFor(loaded);
    if (rateLimit !== null && !loaded.delivery.reserved) {
      if (one.rateLimited.has(endpointRefKey(due))) return;
      one.rateLimited.add(endpointRefKey(due));
    }
    one.requests++;
    one.connections = Math.max(one.connections, one.requests);
  }

  /** Asks for the connections that are expected by now. */
  warm(): void {
    for (const one of this.#expected.values()) {
      if (one.connections > one.asked) this.#egress.warm(one.url, one.connections, one.customer);
      one.asked = Math.max(one.asked, one.connections);
      one.connections = 0;
    }
    this.#before = this.#expected;
    this.#expected = new Map();
  }
}

/** Null where the origin is the text of a URL that cannot be parsed. */
function newExpected({ origin, partition }: DueDelivery, moment: number): Expected | null {
  const url = URL.parse(origin);
  return (
    url && { url, customer: partition, moment, requests: 0, rateLimited: new Set(), connections: 0, asked: 0 }
  );
}
