/**
 * Every request carries exactly the headers and the body that its delivery was made with, whatever has changed since
 * then. A PUT is acknowledged only when the schedule sends what it asked for. Each version of a payload is stored
 * while a delivery names it, and is removed soon after the last of them.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Delivery } from '#src/domain/delivery.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { ApiCall } from '../api-call.ts';
import { callOf } from '../contents.ts';
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
      const { body, headers } = payloads.contentOf(sent.deliveryId);
      const madeWith = JSON.stringify(payloads.of(sent.deliveryId));
      const isItsBody =
        body === null || sent.body === null ? body === sent.body : Buffer.from(body).equals(sent.body);
      if (!isItsBody) throw violation(`carried another body than that of ${madeWith}`);
      const expected = expectedHeaders(payloads.profileHeadersOf(sent.deliveryId), headers, body);
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
