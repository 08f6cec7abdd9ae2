/** Generates who is notified of outcomes: mostly a profile of the same customer, sometimes one that must be refused. */
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { EndpointId } from '#src/domain/id.ts';
import { NOTIFIED_OUTCOMES, type NotifiedOutcome, type Notify } from '#src/domain/notify.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import type { Observer } from './observer.ts';

/** No profile ever has this id. */
const UNKNOWN_PROFILE = 'ep_00000000000000000000000000' as EndpointId;
const OUTCOME_CHANCE = 0.6;

export class NotifyInputs {
  readonly #prng: Prng;
  readonly #observer: Pick<Observer, 'profiles'>;

  constructor(prng: Prng, observer: Pick<Observer, 'profiles'>) {
    this.#prng = prng;
    this.#observer = observer;
  }

  /** For a creation or a PUT. */
  of(partition: Partition): Notify | null {
    return this.#prng.weighted<() => Notify | null>([
      [12, () => null],
      [3, () => this.#optOut(partition)],
      [12, () => this.#told(partition)],
      [1, () => this.#refused(partition)],
    ])();
  }

  /** For a PATCH. Undefined where it does not speak of this. */
  edit(partition: Partition): Notify | null | undefined {
    return this.#prng.chance(0.4) ? this.of(partition) : undefined;
  }

  /** A profile that can be notified, and every outcome. Null where the customer has no such profile. */
  ofEverything(partition: Partition): (Notify & { readonly endpointId: EndpointId }) | null {
    const usable = this.#usable(partition);
    if (usable.length === 0) return null;
    return { endpointId: this.#prng.pick(usable).id, on: NOTIFIED_OUTCOMES };
  }

  #told(partition: Partition): Notify | null {
    const usable = this.#usable(partition);
    return usable.length === 0 ? null : { endpointId: this.#prng.pick(usable).id, on: this.#outcomes() };
  }

  #outcomes(): readonly NotifiedOutcome[] {
    const some = this.#prng.some(NOTIFIED_OUTCOMES, OUTCOME_CHANCE);
    return some.length > 0 ? some : [this.#prng.pick(NOTIFIED_OUTCOMES)];
  }

  #optOut(partition: Partition): Notify {
    const usable = this.#usable(partition);
    const isNamed = usable.length > 0 && this.#prng.chance(0.3);
    return { endpointId: isNamed ? this.#prng.pick(usable).id : null, on: [] };
  }

  /** A profile that is archived, of another customer, or unknown. */
  #refused(partition: Partition): Notify {
    const others = this.#all().filter((profile) => !isUsable(profile, partition));
    const id = others.length > 0 && this.#prng.chance(0.8) ? this.#prng.pick(others).id : UNKNOWN_PROFILE;
    return { endpointId: id, on: this.#prng.chance(0.8) ? this.#outcomes() : [] };
  }

  #usable(partition: Partition): readonly EndpointProfile[] {
    return this.#all().filter((profile) => isUsable(profile, partition));
  }

  #all(): readonly EndpointProfile[] {
    return [...this.#observer.profiles.values()];
  }
}

function isUsable(profile: EndpointProfile, partition: Partition): boolean {
  return profile.partition === partition && !profile.archived;
}
