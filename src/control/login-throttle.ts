/**
 * Limits how often a password may be guessed. Failures are counted by name and address together, by name over all
 * addresses, and by address over all names. Beyond a free number, each failure makes the next guess wait twice as long.
 *
 * A guess is counted before it is checked, and uncounted if it was right. So many guesses at once cannot be checked
 * before they are counted. If another guess was counted in between, on this node or another, the counts are read
 * again. A guess that has to wait is neither checked nor counted, so that the wait ends.
 *
 * An attacker with many addresses could lock the owner of a name out by making that name wait. So from an address
 * where the name has signed in before, only the failures from that address count.
 */
import { hash } from 'node:crypto';
import { type Instant, instant } from '#src/domain/instant.ts';
import { parseAddress } from '#src/domain/public-address.ts';
import type { FailureCounts, FailureCountsChange, PeopleStore } from '#src/ports/people-store.ts';
import type { Clock } from '#src/ports/system.ts';
import { ControlRefusal } from './refusal.ts';

export interface Limit {
  /** The number of failures before the next guess has to wait. */
  readonly free: number;
  readonly waitMsMax: number;
  /** The failures are forgotten after this time without another one. */
  readonly forgetMs: number;
}

const FIRST_WAIT_MS = 1_000;
const HOUR_MS = 3_600_000;
/** No wait is doubled more often. */
const DOUBLINGS_MAX = 20;

export const LIMITS = {
  name_and_address: { free: 5, waitMsMax: 900_000, forgetMs: 24 * HOUR_MS },
  name: { free: 50, waitMsMax: 60_000, forgetMs: HOUR_MS },
  address: { free: 100, waitMsMax: 60_000, forgetMs: HOUR_MS },
} as const satisfies Readonly<Record<string, Limit>>;
type Kind = keyof typeof LIMITS;
const KINDS = Object.keys(LIMITS) as readonly Kind[];

/** The longest time for which a failure counts. */
export const FAILURE_MS_MAX = Math.max(...Object.values(LIMITS).map(({ forgetMs }) => forgetMs));
/** How long an address is remembered as one where a name has signed in. */
export const FAMILIAR_MS = 30 * 24 * HOUR_MS;

/** Conflicts with other nodes. On this node guesses are counted one after the other. */
const CONFLICTS_MAX = 5;
const WAITING_MAX = 64;
/** One address must not fill the whole queue. */
const WAITING_PER_ADDRESS_MAX = 8;

/** Returns how long the next guess has to wait after this many failures. */
export function waitMsOf(limit: Limit, failures: number, lastAt: Instant, now: Instant): number {
  if (failures < limit.free || now - lastAt >= limit.forgetMs) return 0;
  const doublings = Math.min(failures - limit.free, DOUBLINGS_MAX);
  const fullMs = Math.min(FIRST_WAIT_MS * 2 ** doublings, limit.waitMsMax);
  // The wait is bounded, so that a clock that was set back does not make it longer.
  return Math.min(Math.max(lastAt + fullMs - now, 0), fullMs);
}

/** A throttle that starts: the next guess with the same name, from the same address, or both, has to wait. */
export interface ThrottleStart {
  readonly by: Kind;
  readonly failures: number;
}

type Subjects = Readonly<Record<Kind | 'familiar', string>>;

/** A guess that was counted. */
export interface Guess {
  readonly subjects: Subjects;
  /** The throttles that this guess starts, if it is wrong. */
  readonly throttlesStarted: readonly ThrottleStart[];
}

export class LoginThrottle {
  readonly #people: PeopleStore;
  readonly #clock: Clock;
  /** Ends when the last guess in the queue has been counted. */
  #last: Promise<unknown> = Promise.resolve();
  /** Number of guesses in the queue, by address. */
  readonly #waiting = new Map<string, number>();

  constructor(people: PeopleStore, clock: Clock) {
    this.#people = people;
    this.#clock = clock;
  }

  /** Counts a guess, or refuses it because it has to wait. */
  async count(name: string, address: string): Promise<Guess> {
    const source = addressKey(address);
    this.#enqueue(source);
    const counted = this.#last.then(() => this.#count(subjectsOf(name, source)));
    this.#last = counted.catch(() => {});
    try {
      return await counted;
    } finally {
      this.#dequeue(source);
    }
  }

  #enqueue(source: string): void {
    const fromSource = this.#waiting.get(source) ?? 0;
    const all = [...this.#waiting.values()].reduce((sum, count) => sum + count, 0);
    if (all >= WAITING_MAX || fromSource >= WAITING_PER_ADDRESS_MAX) throw throttled(FIRST_WAIT_MS);
    this.#waiting.set(source, fromSource + 1);
  }

  #dequeue(source: string): void {
    const others = (this.#waiting.get(source) ?? 1) - 1;
    if (others > 0) this.#waiting.set(source, others);
    else this.#waiting.delete(source);
  }

  async #count(subjects: Subjects): Promise<Guess> {
    for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
      const now = this.#clock.now();
      const found = await this.#find(Object.values(subjects));
      const waitMs = longestWait(subjects, found, now);
      if (waitMs > 0) throw throttled(waitMs);
      const changes = countedUp(subjects, found, now);
      if ((await this.#people.replaceFailureCounts(changes)) === 'done') {
        return { subjects, throttlesStarted: throttlesStartedBy(changes) };
      }
    }
    throw throttled(FIRST_WAIT_MS);
  }

  async #find(subjects: readonly string[]): Promise<FailuresBySubject> {
    return new Map((await this.#people.findFailureCounts(subjects)).map((row) => [row.subject, row]));
  }

  /** The guess was right: its failures are cleared, and the address counts as familiar. */
  async recordSuccess({ subjects }: Guess): Promise<void> {
    const { name_and_address, name, address, familiar } = subjects;
    await this.#people.clearFailureCounts([name_and_address]);
    await this.#people.undoFailure([name, address]);
    const was = (await this.#find([familiar])).get(familiar) ?? null;
    const change = { subject: familiar, failures: 0, lastAt: this.#clock.now(), was };
    // A conflict means that another login just wrote the same.
    await this.#people.replaceFailureCounts([change]);
  }

  /** The guess could not be checked. */
  async uncount({ subjects: { name_and_address, name, address } }: Guess): Promise<void> {
    await this.#people.undoFailure([name_and_address, name, address]);
  }
}

type FailuresBySubject = ReadonlyMap<string, FailureCounts>;

function kindsOf(subjects: Subjects, found: FailuresBySubject, now: Instant): readonly Kind[] {
  const familiar = found.get(subjects.familiar);
  const isFamiliar = familiar !== undefined && now - familiar.lastAt < FAMILIAR_MS;
  return isFamiliar ? ['name_and_address'] : KINDS;
}

function longestWait(subjects: Subjects, found: FailuresBySubject, now: Instant): number {
  const waits = kindsOf(subjects, found, now).map((kind) => {
    const { failures = 0, lastAt = now } = found.get(subjects[kind]) ?? {};
    return waitMsOf(LIMITS[kind], failures, lastAt, now);
  });
  return Math.max(...waits);
}

interface Counted extends FailureCountsChange {
  readonly kind: Kind;
}

function countedUp(subjects: Subjects, found: FailuresBySubject, now: Instant): readonly Counted[] {
  return KINDS.map((kind) => {
    const subject = subjects[kind];
    const was = found.get(subject) ?? null;
    const isForgotten = was === null || now - was.lastAt >= LIMITS[kind].forgetMs;
    const lastAt = instant(Math.max(now, was?.lastAt ?? now));
    return { kind, subject, failures: isForgotten ? 1 : was.failures + 1, lastAt, was };
  });
}

/**
 * A throttle is reported when it starts, and again whenever the number of failures has doubled. Otherwise a slow
 * attacker would be reported only once. Exactly one guess reaches each number, on any node.
 */
function throttlesStartedBy(changes: readonly Counted[]): readonly ThrottleStart[] {
  return changes.flatMap(({ kind, failures }) =>
    Number.isInteger(Math.log2(failures / LIMITS[kind].free)) && failures >= LIMITS[kind].free
      ? [{ by: kind, failures }]
      : [],
  );
}

function subjectsOf(name: string, source: string): Subjects {
  return {
    name_and_address: digest('name_and_address', name, source),
    name: digest('name', name),
    address: digest('address', source),
    familiar: digest('familiar', name, source),
  };
}

/** A typed name may be anything, even a password, so only its digest is stored. */
function digest(kind: Kind | 'familiar', ...words: readonly string[]): string {
  return `${kind}:${hash('sha256', JSON.stringify(words), 'hex')}`;
}

const IPV6_NETWORK_BYTES = 8;
const MAPPED = '::ffff:';

/** IPv6 addresses are counted by network, since a client with one address of a network usually has all of them. */
function addressKey(text: string): string {
  const address = parseAddress(text.toLowerCase().startsWith(MAPPED) ? text.slice(MAPPED.length) : text);
  if (address?.family !== 'ipv6') return address?.text ?? text;
  return address.bytes.slice(0, IPV6_NETWORK_BYTES).join('.');
}

function throttled(waitMs: number): ControlRefusal {
  return new ControlRefusal('login_throttled', '', waitMs);
}
