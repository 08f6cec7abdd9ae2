/**
 * Observes what is durable and what the network has seen. It reads the store's tables after every verb, and
 * calls the checkers with the state before and after. Nothing of it passes through the engine.
 */
import type { Attempt, Delivery, DeliveryStatus } from '#src/domain/delivery.ts';
import type { UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { Step } from '#src/store/sql/steps.ts';
import type { Checker, GateSave } from './checkers/checker.ts';
import type { DurableRows } from './durable-rows.ts';
import { ms } from './durations.ts';
import type { SentRequest } from './network.ts';

const ID = /^(dlv|sch|ep)_[0-9a-z]{26}$/;
/** These steps change versions of payloads, which no object shows. */
const PAYLOAD_STEP = /payload/i;
/** The position of the trusted time in the step `saveTrustedTime`. */
const TRUSTED_AT = 1;
const DEFAULT_TIMEOUT_MS = 30_000;
/** These steps change deliveries that they do not name. */
const SWEEPS: ReadonlySet<Step[0]> = new Set(['sweepFirstDeliveries', 'sweepDeliveries']);

export const TERMINAL: ReadonlySet<DeliveryStatus> = new Set([
  'succeeded',
  'dead_letter',
  'expired',
  'canceled',
]);

export function isWaitingStatus(status: DeliveryStatus): boolean {
  return status === 'scheduled' || status === 'retry_scheduled';
}

/** It takes the present version of its profile. A replay keeps what its original had. */
export function isFirstClaimOfNotification(before: Delivery, after: Delivery): boolean {
  const isFirst = before.attemptCount === 0 && after.status === 'claimed';
  return isFirst && after.notificationOf !== null && after.replayOf === null;
}

export class Observer {
  readonly deliveries = new Map<DeliveryId, Delivery>();
  readonly attempts = new Map<DeliveryId, readonly Attempt[]>();
  readonly schedules = new Map<ScheduleId, Schedule>();
  readonly profiles = new Map<EndpointId, EndpointProfile>();
  /** All versions of the profiles, because a delivery keeps the version that it was created with. */
  readonly profileVersions = new Map<string, EndpointProfile>();
  readonly deliveriesOf = new Map<ScheduleId, Set<DeliveryId>>();
  /** Schedule actions that have not reached all deliveries yet. */
  readonly sweeps = new Map<ScheduleId, UnfinishedSweep>();
  /** Deliveries that are not terminal. */
  readonly open = new Set<DeliveryId>();
  readonly sent = new Map<string, SentRequest>();
  readonly #rows: DurableRows;
  readonly #partitions: readonly Partition[];
  readonly #checkers: readonly Checker[];

  constructor(rows: DurableRows, partitions: readonly Partition[], checkers: readonly Checker[]) {
    this.#rows = rows;
    this.#partitions = partitions;
    this.#checkers = checkers;
  }

  /** How long an attempt of this delivery may take. */
  timeoutMsOf(id: DeliveryId): number {
    const delivery = this.deliveries.get(id);
    const timeout = delivery && this.versionOf(delivery)?.timeout;
    return timeout ? ms(timeout) : DEFAULT_TIMEOUT_MS;
  }

  sentOf(deliveryId: DeliveryId, attemptNo: number): SentRequest | null {
    return this.sent.get(`${deliveryId}/${attemptNo}`) ?? null;
  }

  /** Null for a notification, which belongs to no schedule, and where the schedule is gone. */
  scheduleOf({ scheduleId }: Pick<Delivery, 'scheduleId'>): Schedule | null {
    return scheduleId === null ? null : (this.schedules.get(scheduleId) ?? null);
  }

  /** The endpoint profile that the delivery goes to. */
  profileOf({ target: { endpointId } }: Pick<Delivery, 'target'>): EndpointProfile | null {
    return endpointId === null ? null : (this.profiles.get(endpointId) ?? null);
  }

  /** The version of the endpoint profile that the delivery is sent with. */
  versionOf({ target }: Pick<Delivery, 'target'>): EndpointProfile | null {
    return this.profileVersions.get(`${target.endpointId}/${target.endpointVersion}`) ?? null;
  }

  /** Whether a pause or cancel has not reached this delivery yet. Such a delivery must not be sent. */
  isAwaitingSweep({ id, scheduleId }: Delivery): boolean {
    const sweep = scheduleId === null ? undefined : this.sweeps.get(scheduleId);
    return sweep !== undefined && sweep.action !== 'resume' && id <= sweep.lastId;
  }

  recordSent(sent: SentRequest): void {
    this.sent.set(`${sent.deliveryId}/${sent.attemptNo}`, sent);
  }

  /**
   * Reads again everything that the verb's steps name. Returns a description of the changes, which may be
   * empty.
   */
  observe(steps: readonly Step[], wasDone: boolean): string {
    const touched = new Set<string>();
    const schedules = new Set<ScheduleId>();
    for (const [name, , ...parameters] of steps) {
      for (const parameter of parameters) {
        if (typeof parameter === 'string' && ID.test(parameter)) touched.add(parameter);
      }
      if (PAYLOAD_STEP.test(name)) schedules.add(parameters.find(isScheduleId) as ScheduleId);
      if (wasDone && name === 'saveTrustedTime')
        for (const checker of this.#checkers) checker.cleanerRound?.(parameters[TRUSTED_AT] as Instant);
      if (SWEEPS.has(name)) this.#addAll(touched, parameters);
      if (wasDone && (name === 'saveGate' || name === 'removeGate')) this.#gate(name, parameters);
    }
    if (touched.size === 0) return '';
    const changes: string[] = [];
    this.#rows.inSnapshot(() => {
      // Schedules come first, because the rules for a delivery depend on its schedule.
      for (const id of touched) if (id.startsWith('ep_')) this.#profile(id as EndpointId);
      for (const id of touched) {
        if (id.startsWith('sch_')) this.#schedule(id as ScheduleId, schedules, changes);
      }
      for (const id of touched) {
        if (id.startsWith('dlv_')) this.#delivery(id as DeliveryId, schedules, changes);
      }
    });
    for (const checker of this.#checkers) checker.verbEnded?.(schedules);
    return changes.join(' ');
  }

  #addAll(touched: Set<string>, parameters: readonly unknown[]): void {
    const schedule = parameters.find(isScheduleId);
    for (const id of (schedule && this.deliveriesOf.get(schedule)) ?? [])
      if (this.open.has(id)) touched.add(id);
  }

  #gate(name: 'saveGate' | 'removeGate', [partition, endpoint, state]: readonly unknown[]): void {
    const save: GateSave = {
      partition: partition as Partition,
      endpoint: String(endpoint),
      state: name === 'saveGate' ? String(state) : null,
    };
    for (const checker of this.#checkers) checker.gateSaved?.(save);
  }

  #profile(id: EndpointId): void {
    const before = this.profiles.get(id) ?? null;
    const after = this.#find(before, (partition) => this.#rows.profile(partition, id));
    if (after === null) return;
    if (before?.revision === after.revision) return;
    this.profiles.set(id, after);
    this.profileVersions.set(`${id}/${after.version}`, after);
    for (const checker of this.#checkers) checker.profile?.(before, after);
  }

  #schedule(id: ScheduleId, schedules: Set<ScheduleId>, changes: string[]): void {
    const before = this.schedules.get(id) ?? null;
    const after = this.#find(before, (partition) => this.#rows.schedule(partition, id));
    this.#sweep(id, after ?? before, changes);
    if (after === before || after?.revision === before?.revision) return;
    schedules.add(id);
    changes.push(`${shortId(id)}:${before?.state ?? 'none'}→${after?.state ?? 'gone'}`);
    if (after === null) this.schedules.delete(id);
    else this.schedules.set(id, after);
    for (const checker of this.#checkers) checker.schedule?.(before, after);
  }

  #sweep(id: ScheduleId, schedule: Schedule | null, changes: string[]): void {
    if (schedule === null) return;
    const found = this.#rows.sweep(schedule.partition, id);
    const before = this.sweeps.get(id);
    if (found === null) this.sweeps.delete(id);
    else this.sweeps.set(id, found);
    if ((found === null) !== (before === undefined)) {
      changes.push(`${shortId(id)}:${found === null ? 'swept' : `to be swept by a ${found.action}`}`);
    }
  }

  #delivery(id: DeliveryId, schedules: Set<ScheduleId>, changes: string[]): void {
    const before = this.deliveries.get(id) ?? null;
    const after = this.#find(before, (partition) => this.#rows.delivery(partition, id));
    if (after === null && before === null) return;
    const attemptsBefore = this.attempts.get(id) ?? [];
    const attempts = after === null ? [] : this.#rows.attempts(after.partition, id);
    if (after?.revision === before?.revision && same(attempts, attemptsBefore)) return;
    const scheduleId = (after ?? before)?.scheduleId ?? null;
    if (scheduleId !== null) {
      schedules.add(scheduleId);
      this.#assignToSchedule(scheduleId, id, after);
    }
    changes.push(`${shortId(id)}:${describe(before)}→${describe(after)}`);
    this.#remember(id, after, attempts);
    for (const checker of this.#checkers) checker.delivery?.({ before, after, attemptsBefore, attempts });
  }

  #remember(id: DeliveryId, after: Delivery | null, attempts: readonly Attempt[]): void {
    if (after === null) {
      this.deliveries.delete(id);
      this.attempts.delete(id);
      this.open.delete(id);
      return;
    }
    this.deliveries.set(id, after);
    this.attempts.set(id, attempts);
    if (TERMINAL.has(after.status)) this.open.delete(id);
    else this.open.add(id);
  }

  #assignToSchedule(scheduleId: ScheduleId, id: DeliveryId, after: Delivery | null): void {
    const all = this.deliveriesOf.get(scheduleId) ?? new Set();
    if (after === null) all.delete(id);
    else all.add(id);
    this.deliveriesOf.set(scheduleId, all);
  }

  /** A known row stays in its partition. A new row may be in any partition. */
  #find<T>(
    known: { readonly partition: Partition } | null,
    read: (partition: Partition) => T | null,
  ): T | null {
    if (known !== null) return read(known.partition);
    for (const partition of this.#partitions) {
      const found = read(partition);
      if (found !== null) return found;
    }
    return null;
  }
}

function isScheduleId(value: unknown): value is ScheduleId {
  return typeof value === 'string' && value.startsWith('sch_');
}

function same(a: readonly Attempt[], b: readonly Attempt[]): boolean {
  return a.length === b.length && a.every((attempt, at) => sameAttempt(attempt, b[at]));
}

export function sameAttempt(a: Attempt, b: Attempt | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The end of an id is enough to distinguish it in a trace. */
export function shortId(id: string): string {
  const [kind, tail = ''] = id.split('_');
  return `${kind}_${tail.slice(-5)}`;
}

function describe(delivery: Delivery | null): string {
  if (delivery === null) return 'none';
  const due = delivery.dueAt === null ? '' : `@${new Date(delivery.dueAt).toISOString().slice(11, 23)}`;
  return `${delivery.status}${due}${delivery.reserved ? 'b' : ''}#${delivery.attemptCount}`;
}
