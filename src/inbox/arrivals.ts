/**
 * The requests that the inbox received, kept in memory: the last ones, up to a number and a size.
 *
 * Every change of anything that the page shows has a version, and each arrival keeps the version of its last
 * change. A page that has seen everything up to a version gets what changed after it, so no log of changes
 * is needed. An event carries the present state and not the change, so receiving it twice does no harm.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { AnswerState, Signature } from './contract.ts';

const ARRIVALS_MAX = 200;
const BYTES_MAX = 16 * 1_048_576;

/** Header names in their original spelling and order. */
export type RawHeaders = readonly (readonly [name: string, value: string])[];

/** The attempt that sent the request. It is known only if the signature is valid. */
export interface SentAttempt {
  readonly deliveryId: string;
  readonly attemptNo: number;
  /** When the attempt was due, or null if another service sent it. */
  readonly dueAt: Instant | null;
}

/** A request that the inbox received, and what became of it. */
export interface Arrival {
  /** Counts from 1 since the service started. */
  readonly number: number;
  /** The time at which the first line of the request was read. */
  readonly at: Instant;
  readonly method: string;
  /** The path and query, exactly as received. */
  readonly target: string;
  readonly headers: RawHeaders;
  readonly body: Uint8Array;
  readonly signature: Signature;
  readonly sent: SentAttempt | null;
  /** The delivery in its present state, or null if another service sent it. */
  readonly delivery: Delivery | null;
  readonly answered: AnswerState;
}

export interface VersionedArrival {
  readonly arrival: Arrival;
  /** The version of its last change. */
  readonly version: number;
}

export class Arrivals {
  /** The kept requests by number, the oldest first. */
  readonly #kept = new Map<number, VersionedArrival>();
  readonly #runId: string;
  readonly #onChanged: (changed: VersionedArrival) => void;
  #bytes = 0;
  #lastNumber = 0;
  #version = 0;

  /** `runId` names this run of the service, whose versions begin at 1. */
  constructor(runId: string, onChanged: (changed: VersionedArrival) => void) {
    this.#runId = runId;
    this.#onChanged = onChanged;
  }

  /** The number of the oldest arrival. Arrivals with a lower number were dropped. */
  get first(): number {
    return this.#kept.keys().next().value ?? this.#lastNumber + 1;
  }

  get version(): number {
    return this.#version;
  }

  /** Returns the version of a change, also of something that the page shows beside the arrivals. */
  nextVersion(): number {
    this.#version += 1;
    return this.#version;
  }

  /** Returns the id of an event, from which `versionOf` reads the version. */
  eventId(version: number): string {
    return `${this.#runId}-${version}`;
  }

  /** Returns the version that a page with this last event id has seen, or 0 if it is of another run. */
  versionOf(lastEventId: string): number {
    const [runId, version = ''] = lastEventId.split('-');
    return runId === this.#runId && /^\d{1,15}$/.test(version) ? Number(version) : 0;
  }

  add(arrived: Omit<Arrival, 'number'>): number {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    this.#bytes += bytesOf(arrived);
    const added = this.#keep({ ...arrived, number });
    while (this.#kept.size > ARRIVALS_MAX || (this.#bytes > BYTES_MAX && this.#kept.size > 1)) {
      this.#drop(this.first);
    }
    // Reported after dropping, because each event also says which arrivals were dropped.
    this.#onChanged(added);
    return number;
  }

  /** Does nothing for an arrival that was dropped. */
  update(number: number, changes: Pick<Partial<Arrival>, 'answered' | 'delivery'>): void {
    const kept = this.#kept.get(number);
    if (kept !== undefined) this.#onChanged(this.#keep({ ...kept.arrival, ...changes }));
  }

  find(number: number): Arrival | null {
    return this.#kept.get(number)?.arrival ?? null;
  }

  /** Returns changes in the order of versions, so that a page that loses its connection has seen all up to a version. */
  changedAfter(version: number): readonly VersionedArrival[] {
    const changed = [...this.#kept.values()].filter((kept) => kept.version > version);
    return changed.sort((one, other) => one.version - other.version);
  }

  ofDelivery(deliveryId: string): readonly Arrival[] {
    return [...this.#kept.values()]
      .map(({ arrival }) => arrival)
      .filter(({ sent }) => sent?.deliveryId === deliveryId);
  }

  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  #keep(arrival: Arrival): VersionedArrival {
    const kept = { arrival, version: this.nextVersion() };
    this.#kept.set(arrival.number, kept);
    return kept;
  }

  #drop(number: number): void {
    const kept = this.#kept.get(number);
    if (kept === undefined) return;
    this.#bytes -= bytesOf(kept.arrival);
    this.#kept.delete(number);
  }
}

function bytesOf({ body, headers, target }: Pick<Arrival, 'body' | 'headers' | 'target'>): number {
  return headers.reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    body.length + target.length,
  );
}
