/**
 * A second model of who is notified of the end of each delivery. It knows what customers asked for, and which call took
 * effect last, but not what the store keeps of it. A delivery is made with what its schedule says at that moment, or
 * else its profile. A PATCH or PUT that decides anew reaches only the pending delivery. A replay is made with the same
 * as its original. A notification notifies nobody.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId, EndpointId } from '#src/domain/id.ts';
import type { NotifiedOutcome, Notify } from '#src/domain/notify.ts';
import { isEnded, type Schedule } from '#src/domain/schedule.ts';
import type { Checker } from './checkers/checker.ts';
import { type Contents, notifyCallOf } from './contents.ts';
import { isWaitingStatus, type Observer } from './observer.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Who is told, and of what. Null: nobody. */
export type Told = { readonly endpointId: EndpointId; readonly on: readonly NotifiedOutcome[] } | null;

interface FormerCall {
  readonly call: string;
  readonly untilMs: number;
}

type Time = Pick<VirtualTime, 'elapsedMs'>;
type ObservedObjects = Pick<Observer, 'deliveries' | 'profiles' | 'scheduleOf'>;

export class NotifyModel implements Checker {
  readonly name = 'notify model';
  readonly #time: Time;
  readonly #contents: Contents;
  readonly #observer: ObservedObjects;
  /** It is kept when a delivery is removed, because a replay of it may still be added. */
  readonly #possible = new Map<DeliveryId, readonly Told[]>();
  /** When each call was first sent, by its label. */
  readonly #sentMs = new Map<string, number>();
  /** When an attempt of each delivery last ended. */
  readonly #settledMs = new Map<DeliveryId, number>();
  /** PATCHes that took effect. */
  readonly #done = new Set<string>();
  /** The calls that decided before for each profile. */
  readonly #former = new Map<EndpointId, FormerCall[]>();

  constructor(time: Time, contents: Contents, observer: ObservedObjects) {
    this.#time = time;
    this.#contents = contents;
    this.#observer = observer;
  }

  /**
   * What may hold for the delivery. Normally it is one. A PATCH may read the profile or the delivery just before that
   * is changed, so there it is several.
   */
  possibleFor(id: DeliveryId): readonly Told[] {
    return this.#possible.get(id) ?? [null];
  }

  /** What holds for the delivery. The checker has compared it with the store. */
  of(id: DeliveryId): Told {
    return this.possibleFor(id)[0] ?? null;
  }

  /** What the profile of the schedule says now. */
  wantedByProfile(schedule: Schedule): Notify | null {
    const profile = this.#profileOf(schedule);
    return profile === undefined ? null : this.#contents.wishOf(notifyCallOf(profile)).notify;
  }

  wantedBy(object: Schedule | EndpointProfile): Notify | null {
    return this.#contents.wishOf(notifyCallOf(object)).notify;
  }

  /** Whether a PATCH decided. */
  isPatch(call: string): boolean {
    return this.#contents.wishOf(call).by === 'patch';
  }

  callSent({ label }: { readonly label: string }): void {
    if (!this.#sentMs.has(label)) this.#sentMs.set(label, this.#time.elapsedMs);
  }

  profile(before: EndpointProfile | null): void {
    if (before === null) return;
    const former = { call: notifyCallOf(before), untilMs: this.#time.elapsedMs };
    this.#former.set(before.id, [...(this.#former.get(before.id) ?? []), former]);
  }

  /** Deliveries are observed after their schedule, so the pending one is still as it was before the verb. */
  schedule(before: Schedule | null, after: Schedule | null): void {
    if (before === null || after === null) return;
    const call = notifyCallOf(after);
    const isPatch = call !== notifyCallOf(before) && this.isPatch(call) && !this.#done.has(call);
    if (isPatch) this.#done.add(call);
    const pending = this.#observer.deliveries.get(after.pendingId);
    if (pending === undefined || isEnded(before) || !mayChange(pending)) return;
    if (isPatch) this.#possible.set(pending.id, this.#patched(after, pending, this.#sentMs.get(call) ?? 0));
    else if (this.#isDecidedAnew(before, after, pending)) {
      this.#possible.set(pending.id, [this.#present(after)]);
    }
  }

  delivery({ before, after }: { readonly before: Delivery | null; readonly after: Delivery | null }): void {
    if (after === null) return;
    if (before === null) this.#possible.set(after.id, this.#atCreation(after));
    if (before?.status === 'claimed') this.#settledMs.set(after.id, this.#time.elapsedMs);
    // Of what was possible, this is what happened.
    const happened = this.possibleFor(after.id).filter((told) => isDeepStrictEqual(told, after.notify));
    if (happened.length > 0) this.#possible.set(after.id, happened.slice(0, 1));
  }

  #atCreation(delivery: Delivery): readonly Told[] {
    if (delivery.notificationOf !== null) return [null];
    if (delivery.replayOf !== null) return this.possibleFor(delivery.replayOf);
    const schedule = this.#observer.scheduleOf(delivery);
    return [schedule === null ? null : this.#present(schedule)];
  }

  #isDecidedAnew(before: Schedule, after: Schedule, pending: Delivery): boolean {
    const isOther = !isDeepStrictEqual(this.wantedBy(before), this.wantedBy(after));
    const isElsewhere = profileIdOf(before) !== profileIdOf(after);
    return isOther || (isElsewhere && pending.attemptCount === 0);
  }

  #present(schedule: Schedule): Told {
    return toldBy(this.wantedBy(schedule) ?? this.wantedByProfile(schedule));
  }

  #patched(schedule: Schedule, pending: Delivery, sinceMs: number): readonly Told[] {
    // A PATCH does not reach a delivery that is being sent. It may find that just before the attempt ends.
    const wasBeingSent = (this.#settledMs.get(pending.id) ?? -1) >= sinceMs;
    return [...this.#wantedSince(schedule, sinceMs), ...(wasBeingSent ? this.possibleFor(pending.id) : [])];
  }

  #wantedSince(schedule: Schedule, sinceMs: number): readonly Told[] {
    const profile = this.#profileOf(schedule);
    if (this.wantedBy(schedule) !== null || profile === undefined) return [this.#present(schedule)];
    const former = (this.#former.get(profile.id) ?? []).filter(({ untilMs }) => untilMs >= sinceMs);
    return [this.#present(schedule), ...former.map(({ call }) => toldBy(this.#contents.wishOf(call).notify))];
  }

  #profileOf(schedule: Schedule): EndpointProfile | undefined {
    const id = profileIdOf(schedule);
    return id === null ? undefined : this.#observer.profiles.get(id);
  }
}

function profileIdOf({ destination }: Schedule): EndpointId | null {
  return destination.kind === 'inline' ? null : destination.endpointId;
}

function toldBy(notify: Notify | null): Told {
  if (notify === null || notify.on.length === 0 || notify.endpointId === null) return null;
  return { endpointId: notify.endpointId, on: notify.on };
}

function mayChange({ status }: Delivery): boolean {
  return isWaitingStatus(status) || status === 'paused';
}
