/**
 * How often somebody may guess. Failures are counted by name and address together, by name over all addresses, and
 * by address over all names; beyond a free number each makes the next guess wait, twice as long every time.
 *
 * A guess is counted before it is checked, and taken back when it was right: of many at once none is checked that
 * was not counted. Counting fails where somebody else counted meanwhile, on this node or another; then it is looked
 * again. While a guess has to wait it is neither checked nor counted, so that waiting comes to an end.
 *
 * Whoever guesses from everywhere could keep the owner of a name out, by making the name wait. Where that name was
 * signed in from before, only the failures from there count.
 */
import { hash } from 'node:crypto';
import { type Instant, instant } from '#src/domain/instant.ts';
import { parseAddress } from '#src/domain/public-address.ts';
import type { LoginFailures, LoginFailuresChange, PeopleStore } from '#src/ports/people-store.ts';
import type { Clock } from '#src/ports/system.ts';
import { ControlRefusal } from './refusal.ts';

export interface Limit {
  /** So many may fail before the next has to wait. */
  readonly free: number;
  readonly waitMsMax: number;
  /** After so long without one, all are forgotten. */
  readonly forgetMs: number;
}

const FIRST_WAIT_MS = 1_000;
const HOUR_MS = 3_600_000;
/** More doublings than any longest wait has. */
const DOUBLINGS_MAX = 20;

export const LIMITS = {
  both: { free: 5, waitMsMax: 900_000, forgetMs: 24 * HOUR_MS },
  name: { free: 50, waitMsMax: 60_000, forgetMs: HOUR_MS },
  address: { free: 100, waitMsMax: 60_000, forgetMs: HOUR_MS },
} as const satisfies Readonly<Record<string, Limit>>;
type Kind = keyof typeof LIMITS;

/** No failure counts for longer. */
export const FAILURE_MS_MAX = Math.max(...Object.values(LIMITS).map(({ forgetMs }) => forgetMs));
/** How long it is remembered that a name was signed in from an address. */
export const FAMILIAR_MS = 30 * 24 * HOUR_MS;

/** Of those who come between, on other nodes: on this one guesses are counted one after the other. */
const CONFLICTS_MAX = 5;
const WAITING_MAX = 64;
/** Whoever guesses without end from one place is not to take up all the room. */
const WAITING_PER_ADDRESS_MAX = 8;

/** How long the next guess has to wait after so many failures. */
export function waitMsOf(limit: Limit, failures: number, lastAt: Instant, now: Instant): number {
  if (failures < limit.free || now - lastAt >= limit.forgetMs) return 0;
  const doublings = Math.min(failures - limit.free, DOUBLINGS_MAX);
  const fullMs = Math.min(FIRST_WAIT_MS * 2 ** doublings, limit.waitMsMax);
  // A clock that was set back makes nobody wait for longer.
  return Math.min(Math.max(lastAt + fullMs - now, 0), fullMs);
}

/** A throttle: the next guess under the same name, from the same address, or both, has to wait. */
export interface ThrottleStart {
  readonly by: 'name_and_address' | 'name' | 'address';
  readonly failures: number;
}

type Subjects = Readonly<Record<Kind | 'familiar', string>>;

/** A guess that was counted. */
export interface Guess {
  readonly subjects: Subjects;
  /** The throttles that begin with it, if it is wrong. */
  readonly throttlesStarted: readonly ThrottleStart[];
}

export class LoginThrottle {
  readonly #people: PeopleStore;
  readonly #clock: Clock;
  #last: Promise<unknown> = Promise.resolve();
  /** By the place they come from. */
  readonly #waiting = new Map<string, number>();

  constructor(people: PeopleStore, clock: Clock) {
    this.#people = people;
    this.#clock = clock;
  }

  /** Counts a guess; refuses one that has to wait. */
  async count(name: string, address: string): Promise<Guess> {
    const place = addressKey(address);
    this.#enter(place);
    const counted = this.#last.then(() => this.#count(subjectsOf(name, place)));
    this.#last = counted.catch(() => {});
    try {
      return await counted;
    } finally {
      this.#leave(place);
    }
  }

  #enter(place: string): void {
    const ofPlace = this.#waiting.get(place) ?? 0;
    const all = [...this.#waiting.values()].reduce((sum, count) => sum + count, 0);
    if (all >= WAITING_MAX || ofPlace >= WAITING_PER_ADDRESS_MAX) throw throttled(FIRST_WAIT_MS);
    this.#waiting.set(place, ofPlace + 1);
  }

  #leave(place: string): void {
    const others = (this.#waiting.get(place) ?? 1) - 1;
    if (others > 0) this.#waiting.set(place, others);
    else this.#waiting.delete(place);
  }

  async #count(subjects: Subjects): Promise<Guess> {
    for (let attempts = 0; attempts < CONFLICTS_MAX; attempts++) {
      const now = this.#clock.now();
      const found = await this.#find(Object.values(subjects));
      const waitMs = longestWait(subjects, found, now);
      if (waitMs > 0) throw throttled(waitMs);
      const changes = countedUp(subjects, found, now);
      if ((await this.#people.replaceLoginFailures(changes)) === 'done') {
        return { subjects, throttlesStarted: throttlesStartedBy(changes) };
      }
    }
    throw throttled(FIRST_WAIT_MS);
  }

  async #find(subjects: readonly string[]): Promise<FailuresBySubject> {
    return new Map((await this.#people.findLoginFailures(subjects)).map((one) => [one.subject, one]));
  }

  /** It was right. */
  async recordSuccess({ subjects: { both, name, address, familiar } }: Guess): Promise<void> {
    await this.#people.clearLoginFailures([both]);
    await this.#people.undoLoginFailure([name, address]);
    const was = (await this.#find([familiar])).get(familiar) ?? null;
    const change = { subject: familiar, failures: 0, lastAt: this.#clock.now(), was };
    // Somebody else says the same at this moment, if it is not as it was.
    await this.#people.replaceLoginFailures([change]);
  }

  /** It was not checked after all. */
  async uncount({ subjects: { both, name, address } }: Guess): Promise<void> {
    await this.#people.undoLoginFailure([both, name, address]);
  }
}

type FailuresBySubject = ReadonlyMap<string, LoginFailures>;

function kindsOf(subjects: Subjects, found: FailuresBySubject, now: Instant): readonly Kind[] {
  const familiar = found.get(subjects.familiar);
  const isFamiliar = familiar !== undefined && now - familiar.lastAt < FAMILIAR_MS;
  return isFamiliar ? ['both'] : ['both', 'name', 'address'];
}

function longestWait(subjects: Subjects, found: FailuresBySubject, now: Instant): number {
  const waits = kindsOf(subjects, found, now).map((kind) => {
    const { failures = 0, lastAt = now } = found.get(subjects[kind]) ?? {};
    return waitMsOf(LIMITS[kind], failures, lastAt, now);
  });
  return Math.max(...waits);
}

interface Counted extends LoginFailuresChange {
  readonly kind: Kind;
}

function countedUp(subjects: Subjects, found: FailuresBySubject, now: Instant): readonly Counted[] {
  return (Object.keys(LIMITS) as Kind[]).map((kind) => {
    const subject = subjects[kind];
    const was = found.get(subject) ?? null;
    const isForgotten = was === null || now - was.lastAt >= LIMITS[kind].forgetMs;
    const lastAt = instant(Math.max(now, was?.lastAt ?? now));
    return { kind, subject, failures: isForgotten ? 1 : was.failures + 1, lastAt, was };
  });
}

const THROTTLED_BY = {
  both: 'name_and_address',
  name: 'name',
  address: 'address',
} as const satisfies Readonly<Record<Kind, ThrottleStart['by']>>;

/**
 * A throttle is told when it begins, and again whenever twice as many have failed: somebody who guesses slowly must not
 * be told of once and never again. Exactly one guess is counted as each number, on whatever node.
 */
function throttlesStartedBy(changes: readonly Counted[]): readonly ThrottleStart[] {
  return changes.flatMap(({ kind, failures }) =>
    Number.isInteger(Math.log2(failures / LIMITS[kind].free)) && failures >= LIMITS[kind].free
      ? [{ by: THROTTLED_BY[kind], failures }]
      : [],
  );
}

function subjectsOf(name: string, place: string): Subjects {
  return {
    both: digest('both', name, place),
    name: digest('name', name),
    address: digest('address', place),
    familiar: digest('familiar', name, place),
  };
}

/** What a name is said to be may be anything, and names are nobody else's business. */
function digest(kind: Kind | 'familiar', ...words: readonly string[]): string {
  return `${kind}:${hash('sha256', JSON.stringify(words), 'hex')}`;
}

const IPV6_NETWORK_BYTES = 8;
const MAPPED = '::ffff:';

/** Of IPv6 the network: whoever has one address there has them all. */
function addressKey(text: string): string {
  const address = parseAddress(text.toLowerCase().startsWith(MAPPED) ? text.slice(MAPPED.length) : text);
  if (address?.family !== 'ipv6') return address?.text ?? text;
  return address.bytes.slice(0, IPV6_NETWORK_BYTES).join('.');
}

function throttled(waitMs: number): ControlRefusal {
  return new ControlRefusal('login_throttled', '', waitMs);
}
