/**
 * Rules for every request that any receiver got in any test. It is signed, its row was stored before it, and
 * it came at its instant or later and never twice. It carries the key of its delivery and belongs to the
 * delivery's trace.
 */
import { expect } from 'vitest';
import type { Api } from '#test/e2e/client.ts';
import { attemptsOf, ms } from '#test/e2e/expectations.ts';
import type { Attempt, Delivery } from '#test/e2e/resources.ts';
import { headerOf, type ReceivedRequest, valuesOf } from '#test/receiver/receiver.ts';
import { verify } from '#test/receiver/verify.ts';

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/;

export interface AuditOptions {
  /** False where the service has another clock than the receiver. */
  readonly sameClock?: boolean;
}

interface Recorded {
  readonly delivery: Delivery;
  readonly attempts: readonly Attempt[];
}

/** `apis` has one client per mode. The first one that knows a delivery is used. */
export async function audit(
  apis: readonly Api[],
  requests: readonly ReceivedRequest[],
  secrets: readonly string[],
  { sameClock = true }: AuditOptions = {},
): Promise<void> {
  const byDelivery = Map.groupBy(requests, (request) => headerOf(request, 'Sched-Delivery-Id'));
  const faults: string[] = [];
  await Promise.all(
    [...byDelivery].map(async ([id, ofDelivery]) => {
      const recorded = await recordOf(apis, id);
      if (recorded === null) faults.push(`${id}: sent, and not known`);
      else
        faults.push(...faultsOf(recorded, ofDelivery, secrets, sameClock).map((fault) => `${id}: ${fault}`));
    }),
  );
  expect(faults).toEqual([]);
}

async function recordOf(apis: readonly Api[], id: string): Promise<Recorded | null> {
  for (const api of apis) {
    const { status, json } = await api.get<Delivery>(`/v1/deliveries/${id}`);
    if (status === 200) return readWhole(api, json);
  }
  return null;
}

/** Reads a delivery again when an attempt began between the two reads. */
async function readWhole(api: Api, shown: Delivery): Promise<Recorded> {
  for (let before = shown; ; ) {
    const attempts = await attemptsOf(api, shown.id);
    const { json: after } = await api.get<Delivery>(`/v1/deliveries/${shown.id}`);
    if (before.attempt_count === after.attempt_count) return { delivery: after, attempts };
    before = after;
  }
}

function faultsOf(
  { delivery, attempts }: Recorded,
  requests: readonly ReceivedRequest[],
  secrets: readonly string[],
  sameClock: boolean,
): readonly string[] {
  const numbers = requests.map((request) => headerOf(request, 'Sched-Attempt'));
  const traces = requests.map((request) => TRACEPARENT.exec(headerOf(request, 'traceparent')) ?? []);
  return [
    ...faultIf(new Set(numbers).size !== numbers.length, `sent twice: attempts ${numbers.join(', ')}`),
    ...faultIf(
      attempts.some(({ attempt_no }, i) => attempt_no !== i + 1),
      'attempts are not numbered from 1',
    ),
    ...faultIf(attempts.length !== delivery.attempt_count, `attempt_count is ${delivery.attempt_count}`),
    ...faultIf(
      attempts.some(({ lateness_ms }) => lateness_ms < 0),
      'an attempt was fired early',
    ),
    ...occurrenceFaults(delivery, requests),
    ...faultIf(new Set(traces.map(([, trace]) => trace)).size !== 1, 'more than one trace'),
    ...faultIf(new Set(traces.map(([, , span]) => span)).size !== requests.length, 'a span was used again'),
    ...requests.flatMap((request, i) => {
      const attempt = attempts[Number(numbers[i]) - 1];
      if (attempt === undefined) return [`attempt ${numbers[i]} has no row`];
      const now = nowOf(request, sameClock);
      const isSigned = secrets.some((secret) => verify(request, secret, now) === 'verified');
      const key = valuesOf(request, 'Idempotency-Key').join();
      return [
        ...faultIf(request.isComplete && !isSigned, `attempt ${numbers[i]} is not signed as specified`),
        ...faultIf(key !== delivery.idempotency_key, `attempt ${numbers[i]} had the key ${key}`),
        ...faultIf(valuesOf(request, 'Sched-Request-Id').length > 0, 'Sched-Request-Id was sent'),
        ...(sameClock ? clockFaults(request, attempt) : []),
      ];
    }),
  ];
}

/** A one-shot delivery may be moved between attempts, so only the attempt that ended the delivery is compared. */
function occurrenceFaults(
  { status, attempt_count, occurrence }: Delivery,
  requests: readonly ReceivedRequest[],
): readonly string[] {
  const last = requests.find((request) => headerOf(request, 'Sched-Attempt') === String(attempt_count));
  if (last === undefined || (status !== 'succeeded' && status !== 'dead_letter')) return [];
  const sent = valuesOf(last, 'Sched-Occurrence');
  const expected = occurrence === null ? [] : [occurrence];
  return faultIf(sent.join() !== expected.join(), `Sched-Occurrence was ${sent.join()}, not ${occurrence}`);
}

function clockFaults(
  { arrivedAt }: ReceivedRequest,
  { attempt_no, due_at, fired_at }: Attempt,
): readonly string[] {
  return [
    ...faultIf(arrivedAt < ms(due_at), `attempt ${attempt_no} arrived ${ms(due_at) - arrivedAt} ms early`),
    ...faultIf(arrivedAt < ms(fired_at), `attempt ${attempt_no} arrived before its fired_at`),
  ];
}

/** With another clock, the age of a signature cannot be judged. */
function nowOf(request: ReceivedRequest, sameClock: boolean): number {
  return sameClock ? request.arrivedAt : Number(headerOf(request, 'Sched-Timestamp')) * 1_000;
}

function faultIf(isFault: boolean, fault: string): readonly string[] {
  return isFault ? [fault] : [];
}
