/**
 * A second model of what each delivery is made with. It knows what customers asked for, and which call took effect
 * last, but nothing of the versions that the store numbers. A delivery is made with what its schedule and its profile
 * send at that moment. A PUT reaches only the pending delivery, and only before its first attempt. A replay is made
 * with the same as its original.
 *
 * A notification has no schedule. It is made with what its profile sends at its first claim; what it tells is judged by
 * the notifications checker.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId, EndpointId } from '#src/domain/id.ts';
import type { Destination, Schedule } from '#src/domain/schedule.ts';
import type { Checker } from './checkers/checker.ts';
import { type Content, type Contents, callOf } from './contents.ts';
import { isFirstClaimOfNotification, isWaitingStatus, type Observer } from './observer.ts';

/** Calls whose contents a delivery sends. */
export interface MadeWith {
  readonly schedule: string;
  /** Null for an inline destination. */
  readonly profile: string | null;
}

/** The size that the service expects of the body of a notification. */
const NOTIFICATION_BYTES = 8_192;

const UNKNOWN: MadeWith = { schedule: '', profile: null };

type ObservedObjects = Pick<Observer, 'deliveries' | 'profiles' | 'scheduleOf' | 'versionOf'>;

export class PayloadModel implements Checker {
  readonly name = 'payload model';
  readonly #contents: Contents;
  readonly #observer: ObservedObjects;
  /** It is kept when a delivery is removed, because a replay of it may still be added. */
  readonly #madeWith = new Map<DeliveryId, MadeWith>();
  readonly #notifications = new Set<DeliveryId>();

  constructor(contents: Contents, observer: ObservedObjects) {
    this.#contents = contents;
    this.#observer = observer;
  }

  of(id: DeliveryId): MadeWith {
    return this.#madeWith.get(id) ?? UNKNOWN;
  }

  /** What the schedule gives to the delivery. */
  contentOf(id: DeliveryId): Content {
    return this.#contents.of(this.of(id).schedule);
  }

  profileHeadersOf(id: DeliveryId): Content['headers'] {
    const { profile } = this.of(id);
    return profile === null ? [] : this.#contents.of(profile).headers;
  }

  isStandard(id: DeliveryId): boolean {
    const { profile } = this.of(id);
    return profile !== null && this.#contents.of(profile).standardWebhooks === true;
  }

  /** Null when the delivery has no body. */
  bodyBytesOf(id: DeliveryId): number | null {
    if (this.#notifications.has(id)) return NOTIFICATION_BYTES;
    const { body } = this.contentOf(id);
    return body === null ? null : Buffer.byteLength(body);
  }

  /** Whether both calls asked for the same. */
  areEqual(one: string, other: string): boolean {
    return one === other || asText(this.#contents.of(one)) === asText(this.#contents.of(other));
  }

  /** Deliveries are observed after their schedule, so the pending one is still as it was before the verb. */
  schedule(before: Schedule | null, after: Schedule | null): void {
    if (before === null || after === null || callOf(before) === callOf(after)) return;
    const pending = this.#observer.deliveries.get(after.pendingId);
    if (pending === undefined || !isUntouched(pending)) return;
    const { profile } = this.of(pending.id);
    const isElsewhere = profileOf(before.destination) !== profileOf(after.destination);
    this.#madeWith.set(pending.id, {
      schedule: callOf(after),
      profile: isElsewhere ? this.#presentProfile(after.destination) : profile,
    });
  }

  delivery({ before, after }: { readonly before: Delivery | null; readonly after: Delivery | null }): void {
    if (after === null) return;
    if (after.notificationOf !== null) this.#notifications.add(after.id);
    if (before === null) this.#madeWith.set(after.id, this.#atCreation(after));
    else if (isFirstClaimOfNotification(before, after)) {
      const profile = this.#observer.versionOf(after);
      this.#madeWith.set(after.id, { ...UNKNOWN, profile: profile && callOf(profile) });
    }
  }

  #atCreation(delivery: Delivery): MadeWith {
    if (delivery.replayOf !== null) return this.of(delivery.replayOf);
    const schedule = this.#observer.scheduleOf(delivery);
    if (schedule === null) return UNKNOWN;
    return { schedule: callOf(schedule), profile: this.#presentProfile(schedule.destination) };
  }

  #presentProfile(destination: Destination): string | null {
    const id = profileOf(destination);
    const profile = id === null ? undefined : this.#observer.profiles.get(id);
    return profile === undefined ? null : callOf(profile);
  }
}

function isUntouched({ attemptCount, status }: Delivery): boolean {
  return attemptCount === 0 && (isWaitingStatus(status) || status === 'paused');
}

function profileOf(destination: Destination): EndpointId | null {
  return destination.kind === 'inline' ? null : destination.endpointId;
}

function asText({ headers, body }: Content): string {
  return JSON.stringify([headers.toSorted(([one], [other]) => (one < other ? -1 : 1)), body]);
}
