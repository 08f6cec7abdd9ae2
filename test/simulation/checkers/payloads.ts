/**
 * Every request carries exactly the headers and the body that its delivery was made with, whatever has changed since
 * then. The headers of Standard Webhooks are among them only if the profile wanted them, and they verify. A PUT is acknowledged only when the schedule sends what it asked for. Each version of a payload is stored
 * while a delivery names it, and is removed soon after the last of them.
 */
import { createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Delivery } from '#src/domain/delivery.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { ApiCall } from '../api-call.ts';
import { type Content, callOf } from '../contents.ts';
import type { SentRequest } from '../network.ts';
import { type Checker, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';
import { storedVersionsChecker } from './stored-versions.ts';

const NAME = 'payloads';
/** Headers that the service sets itself. */
const OWN_HEADER = /^(?:sched-.*|user-agent|traceparent|idempotency-key)$/;

export function payloadsChecker(simulation: SimulationView): Checker {
  const { observer, payloads } = simulation;
  const stored = storedVersionsChecker(simulation);
  /** The call that took effect last, at each revision of a schedule. */
  const calls = new Map<string, string>();

  const checkSchedule = (call: ApiCall, schedule: Schedule): void => {
    const violation = (what: string) => new Violation(NAME, `${call.what} was acknowledged, ${what}`);
    const { contentOf = '' } = call;
    const took = calls.get(`${schedule.id}@${schedule.revision}`);
    if (took !== contentOf) throw violation(`but ${schedule.id} has what ${took} asked for`);
  };

  const checkPending = (call: ApiCall, shown: Delivery): void => {
    const { contentOf = '' } = call;
    const known = observer.deliveries.get(shown.id);
    if (known?.revision !== shown.revision || shown.attemptCount > 0 || shown.status === 'claimed') return;
    const { schedule } = payloads.of(shown.id);
    if (payloads.areEqual(schedule, contentOf)) return;
    throw new Violation(
      NAME,
      `${call.what} was acknowledged, but ${shown.id} sends what ${schedule} asked for`,
    );
  };

  /** What a notification tells is judged by the notifications checker. */
  const contentOf = ({ deliveryId, body }: SentRequest): Content => {
    const isNotification = (observer.deliveries.get(deliveryId)?.notificationOf ?? null) !== null;
    if (!isNotification) return payloads.contentOf(deliveryId);
    return { headers: [], body: body && Buffer.from(body).toString() };
  };

  return {
    ...stored,
    name: NAME,
    schedule(before, after) {
      stored.schedule(before, after);
      if (after !== null) calls.set(`${after.id}@${after.revision}`, callOf(after));
    },
    requestSent(sent) {
      const violation = (what: string) =>
        new Violation(NAME, `${sent.deliveryId} attempt ${sent.attemptNo} ${what}`);
      const { body, headers } = contentOf(sent);
      const madeWith = JSON.stringify(payloads.of(sent.deliveryId));
      const isItsBody =
        body === null || sent.body === null ? body === sent.body : Buffer.from(body).equals(sent.body);
      if (!isItsBody) throw violation(`carried another body than that of ${madeWith}`);
      const customers = expectedHeaders(payloads.profileHeadersOf(sent.deliveryId), headers, body);
      const { partition } = observer.deliveries.get(sent.deliveryId) ?? {};
      const secret = partition && simulation.secrets.get(partition);
      const standard = payloads.isStandard(sent.deliveryId) ? standardHeaders(sent, secret ?? '') : [];
      const expected = new Map([...customers, ...standard]);
      if (!isDeepStrictEqual(customerHeadersOf(sent), expected)) {
        throw violation(`carried ${shown(customerHeadersOf(sent))}, not ${shown(expected)} of ${madeWith}`);
      }
    },
    callAnswered(call) {
      const { rendered, replayed, contentOf } = call;
      if (rendered?.of === 'plan') checkPlan(call, rendered);
      if (rendered?.of !== 'schedule' || replayed || contentOf === undefined) return;
      checkSchedule(call, rendered.view.schedule);
      if (rendered.view.pending !== null) checkPending(call, rendered.view.pending);
    },
  };
}

function checkPlan(
  { what }: ApiCall,
  { action, fields }: { readonly action: string; readonly fields: readonly string[] },
) {
  if ((action === 'change') === fields.length > 0) return;
  throw new Violation(NAME, `${what} was answered ${action} with the fields ${fields.join(', ')}`);
}

type Sent = ReadonlyMap<string, string>;

/** The schedule's headers win over those of its profile. A JSON body has a type. */
function expectedHeaders(
  profile: readonly (readonly [string, string])[],
  schedule: readonly (readonly [string, string])[],
  body: string | null,
): Sent {
  const merged = new Map(
    [...profile, ...schedule].map(([name, value]) => [name.toLowerCase(), value] as const),
  );
  if (isJson(body) && !merged.has('content-type')) merged.set('content-type', 'application/json');
  return merged;
}

/** They replace those of the customer. */
function standardHeaders({ deliveryId, headers, body }: SentRequest, secret: string): Sent {
  const timestamp = headers.get('sched-timestamp') ?? '';
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const hmac = createHmac('sha256', key).update(`${deliveryId}.${timestamp}.`);
  return new Map([
    ['webhook-id', deliveryId],
    ['webhook-timestamp', timestamp],
    ['webhook-signature', `v1,${hmac.update(body ?? '').digest('base64')}`],
  ]);
}

function isJson(body: string | null): boolean {
  if (body === null) return false;
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

function customerHeadersOf({ headers }: SentRequest): Sent {
  return new Map([...headers].filter(([name]) => !OWN_HEADER.test(name)));
}

function shown(headers: Sent): string {
  return JSON.stringify([...headers]);
}
