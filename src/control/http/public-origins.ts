/**
 * The operator may name the origins of the dashboard (`SCHED_PUBLIC_URL`). A page of another site can have its own
 * name resolve to this service's address, and is then of the same origin as the dashboard (DNS rebinding). The name
 * gives it away: under any but the operator's nothing is answered.
 */
import type { IncomingMessage } from 'node:http';
import { DoorRefusal } from './errors.ts';
import { ownOrigin } from './request-facts.ts';

/** `origins`: null where any will do. */
export function checkPublicOrigin(request: IncomingMessage, origins: readonly string[] | null): void {
  if (origins === null) return;
  const origin = ownOrigin(request);
  if (origin !== null && origins.includes(origin)) return;
  throw new DoorRefusal(
    'wrong_host',
    `The dashboard is not at this address but at ${origins.join(' or ')}. A proxy in front of the service must pass on the Host header, and X-Forwarded-Proto where it speaks TLS.`,
  );
}
