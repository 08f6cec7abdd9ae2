/**
 * The steps that verbs are made of. A step names a statement, its parameters, and the answer of the verb if the
 * statement does not hold.
 *
 * Steps are flat lists, because they may run in another thread. Copying objects between threads costs more than
 * writing them to the database.
 */
import type { Delivery, FinishedAttempt, InFlightDelivery } from '#src/domain/delivery.ts';
import type { EndpointProfile, FiringProfile } from '#src/domain/endpoint-profile.ts';
import type { AttemptId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { FiringSchedule, Schedule } from '#src/domain/schedule.ts';
import type { KeptResponse } from '#src/ports/kept-response.ts';
import type { NamedKind, ProfileWrite, Receipt } from '#src/ports/store.ts';
import { ATTEMPT } from './attempt-rows.ts';
import type { StatementName } from './hot-statements.ts';
import type { Parameter } from './mapping.ts';
import {
  DELIVERY_CLAIMED,
  DELIVERY_DEFERRED,
  DELIVERY_SETTLED,
  PROFILE_HEAD,
  PROFILE_VERSION,
  SCHEDULE,
  SCHEDULE_ADVANCED,
  SCHEDULE_COMPLETED,
} from './rows.ts';

export type { Parameter };

/** The answer of a verb when one of its steps does not hold. */
export const REJECTIONS = [
  'stale',
  'key_taken',
  'name_taken',
  'in_use',
  'taken',
  'missing',
  'last_admin',
  'full',
] as const;
export type Rejection = (typeof REJECTIONS)[number];

/** A statement, the verb's answer if it does not hold, and its parameters. */
export type Step<Name extends string = StatementName> = readonly [Name, Rejection | null, ...Parameter[]];

/** Runs the queries and verbs of one part of the store, on the connections meant for it. */
export interface SqlRunner {
  /** Parameters are `$1`, `$2` and so on, each used once and in this order. */
  query<Row>(sql: string, ...parameters: readonly (string | number)[]): Promise<readonly Row[]>;
  /** A query whose rows are named by their whole key. */
  lookUp<Row>(sql: string, ...parameters: readonly (string | number)[]): Promise<readonly Row[]>;
  run<A extends Rejection>(steps: readonly Step[]): Promise<'done' | A>;
}

export function replaceSchedule(schedule: Schedule): Step {
  return ['replaceSchedule', 'stale', ...SCHEDULE.mutable.values(schedule), ...guard(schedule)];
}

export function advanceSchedule(schedule: FiringSchedule): Step {
  return ['advanceSchedule', 'stale', ...SCHEDULE_ADVANCED.values(schedule), ...guard(schedule)];
}

export function completeSchedule(schedule: FiringSchedule): Step {
  return ['completeSchedule', 'stale', ...SCHEDULE_COMPLETED.values(schedule), ...guard(schedule)];
}

export function claimDelivery(delivery: InFlightDelivery): Step {
  return ['claimDelivery', 'stale', ...DELIVERY_CLAIMED.values(delivery), ...guard(delivery)];
}

/** `attemptId` is the attempt that the delivery must be claimed for; null when it must not be claimed. */
export function settleDelivery(delivery: Delivery, attemptId: AttemptId | null): Step {
  return ['settleDelivery', 'stale', ...DELIVERY_SETTLED.values(delivery), ...guard(delivery), attemptId];
}

export function deferDelivery(delivery: Delivery): Step {
  return ['deferDelivery', 'stale', ...DELIVERY_DEFERRED.values(delivery), ...guard(delivery)];
}

export function guard(object: {
  readonly partition: Partition;
  readonly id: string;
  readonly revision: number;
}) {
  return [object.partition, object.id, object.revision - 1] as const;
}

export function insertAttempt(attempt: FinishedAttempt): Step {
  return ['insertAttempt', null, ...ATTEMPT.values(attempt)];
}

export function insertReceipt(partition: Partition, receipt: Receipt | null): readonly Step[] {
  if (receipt === null) return [];
  const { key, fingerprint, status, body, createdAt, expiresAt } = receipt;
  return [['insertReceipt', 'key_taken', partition, key, fingerprint, status, body, createdAt, expiresAt]];
}

export function insertResponse(
  { partition, deliveryId, attemptNo }: FinishedAttempt,
  response: KeptResponse | null,
): readonly Step[] {
  if (response === null) return [];
  const { statusCode, contentType, isTruncated, sealed } = response;
  const kept = [statusCode, contentType, Number(isTruncated), sealed] as const;
  return [['insertResponse', null, partition, deliveryId, attemptNo, ...kept]];
}

interface Named {
  readonly partition: Partition;
  readonly id: string;
  readonly name: string | null;
}

/** Gives the object its name. Another object may have it. */
export function takeName(kind: NamedKind, { partition, id, name }: Named): readonly Step[] {
  return name === null ? [] : [['insertName', 'name_taken', partition, kind, name, id]];
}

export function giveUpName(kind: NamedKind, { partition, id, name }: Named): readonly Step[] {
  return name === null ? [] : [['removeName', null, partition, kind, name, id]];
}

/** Only objects that have not ended have a name. */
export function changeName(kind: NamedKind, before: Named, after: Named, hasEnded: boolean): readonly Step[] {
  if (before.name === after.name && !hasEnded) return [];
  return [...giveUpName(kind, before), ...(hasEnded ? [] : takeName(kind, after))];
}

export function replaceProfileHead(profile: EndpointProfile): Step {
  return ['replaceProfile', 'stale', ...PROFILE_HEAD.mutable.values(profile), ...guard(profile)];
}

export function insertProfileVersion({ profile, headers }: ProfileWrite): Step {
  return ['insertProfileVersion', null, ...PROFILE_VERSION.values(profile), headers];
}

export function profileAtRevision({ partition, id, revision }: FiringProfile): Step {
  return ['profileAtRevision', 'stale', partition, id, revision];
}
