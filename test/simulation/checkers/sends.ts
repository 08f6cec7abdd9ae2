/**
 * Every request on the network has a row that was durable before it was sent. No attempt is sent twice, or by
 * a process that does not hold the claim. The idempotency key stays the same from attempt to attempt. The
 * request is signed with its customer's secret.
 */
import { createHmac } from 'node:crypto';
import type { DeliveryId } from '#src/domain/id.ts';
import type { SentRequest } from '../network.ts';
import { type Checker, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'sends';
/** No claim takes longer than this, so a clock that was set earlier has no influence on it. */
const CLAIMED_BEFORE_MS = 60_000;

export function sendsChecker(simulation: SimulationView): Checker {
  const keys = new Map<DeliveryId, string>();
  /** When each attempt was claimed, by attempt id. */
  const claimedMs = new Map<string, number>();
  return {
    name: NAME,
    requestSent(sent) {
      const { observer } = simulation;
      const violation = (what: string) =>
        new Violation(NAME, `${sent.deliveryId} attempt ${sent.attemptNo} ${what}`);
      const instance = simulation.findInstance(sent.node);
      if (instance === null) throw violation('was sent by a process that had ended');
      if (observer.sentOf(sent.deliveryId, sent.attemptNo) !== null) throw violation('was sent twice');
      const delivery = observer.deliveries.get(sent.deliveryId);
      const attempt = observer.attempts.get(sent.deliveryId)?.[sent.attemptNo - 1];
      if (delivery === undefined || attempt === undefined)
        throw violation('was sent before its row was durable');
      // Other nodes considered it dead and closed its claims. It could not know that.
      const wasCutOff = instance.leaseInvalidMs >= (claimedMs.get(attempt.id) ?? 0);
      if (!wasCutOff) {
        if (delivery.status !== 'claimed' || attempt.finishedAt !== null) {
          throw violation(`was sent while it was ${delivery.status}`);
        }
        if (delivery.claim?.node !== sent.node)
          throw violation('was sent under the claim of another process');
        if (sent.attemptNo !== delivery.attemptCount) throw violation('was sent under a later claim');
      }
      if (sent.at < attempt.dueAt && simulation.clockSetMs < simulation.time.elapsedMs - CLAIMED_BEFORE_MS) {
        throw violation(`was sent ${attempt.dueAt - sent.at} ms before it was due`);
      }
      const known = keys.get(sent.deliveryId) ?? delivery.idempotencyKey;
      if (sent.idempotencyKey !== known)
        throw violation(`carried the key ${sent.idempotencyKey}, not ${known}`);
      keys.set(sent.deliveryId, known);
      if (sent.url !== new URL(delivery.target.url).href) throw violation(`went to ${sent.url}`);
      if (sent.method !== delivery.target.method) throw violation(`went out as ${sent.method}`);
      if (!isSigned(sent, simulation.secrets.get(delivery.partition) ?? ''))
        throw violation('was not signed');
    },
    delivery({ before, after, attempts }) {
      const last = attempts.at(-1);
      if (after?.status === 'claimed' && last !== undefined)
        claimedMs.set(last.id, simulation.time.elapsedMs);
      if (before === null || after === null || before.attemptCount === 0) return;
      if (after.idempotencyKey !== before.idempotencyKey) {
        throw new Violation(NAME, `${after.id} had its key changed after its first attempt`);
      }
    },
  };
}

function isSigned(sent: SentRequest, secret: string): boolean {
  const { headers, deliveryId, attemptNo, method, url, body } = sent;
  const timestamp = headers.get('sched-timestamp');
  const start = `${timestamp}.${deliveryId}.${attemptNo}.${method}.${new URL(url).pathname}.`;
  const hmac = createHmac('sha256', secret)
    .update(start)
    .update(body ?? '');
  return headers.get('sched-signature') === `t=${timestamp},v1=${hmac.digest('hex')}`;
}
