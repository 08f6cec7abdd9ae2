/**
 * The trace of wrong passwords. Each is a log line, and a throttle that begins is an entry of the audit log too.
 *
 * The typed name may be anything, a password in the wrong field among it: a log line has its keyed hash, by which
 * guesses of the same name are known as such. The audit log names people who exist.
 */
import type { Instant } from '#src/domain/instant.ts';
import type { User } from '#src/ports/people-store.ts';
import type { Clock } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';
import type { Vault } from '#src/ports/vault.ts';
import { type AuditDependencies, type AuditedAction, recordAudit } from './audit.ts';
import type { ThrottleStart } from './login-throttle.ts';

const HOUR_MS = 3_600_000;
/** Guesses from many addresses begin many throttles. Beyond this number in an hour, only the log has them. */
const ENTRIES_PER_HOUR_MAX = 100;
/** No person can have this name. */
const ACTOR = 'failed logins';
const NAME_SCOPE = 'login-name';

export interface FailedLogin {
  readonly name: string;
  readonly address: string;
  readonly peer: string;
  /** The person of that name, if there is one. */
  readonly user: User | null;
  /** The throttles that begin with it. */
  readonly throttlesStarted: readonly ThrottleStart[];
}

export interface FailedLoginLogDependencies extends AuditDependencies {
  readonly log: Log;
  readonly vault: Pick<Vault, 'keyedHash'>;
}

export class FailedLoginLog {
  readonly #dependencies: FailedLoginLogDependencies;
  /** Guesses of names that nobody has must not use up the entries of those that somebody has. */
  readonly #ofPeople: HourlyLimiter;
  readonly #ofStrangers: HourlyLimiter;

  constructor(dependencies: FailedLoginLogDependencies) {
    this.#dependencies = dependencies;
    this.#ofPeople = new HourlyLimiter(dependencies.clock);
    this.#ofStrangers = new HourlyLimiter(dependencies.clock);
  }

  async record({ name, address, peer, user, throttlesStarted: begun }: FailedLogin): Promise<void> {
    const { log, vault } = this.#dependencies;
    const nameHash = vault.keyedHash(NAME_SCOPE, name);
    log.warn({ address, name_hash: nameHash }, 'a login failed');
    for (const { by, failures } of begun) {
      log.warn({ address, name_hash: nameHash, by, failures }, 'logins are throttled');
      const subject = by === 'address' ? '' : (user?.name ?? '');
      const left = (subject === '' ? this.#ofStrangers : this.#ofPeople).take();
      if (left === 'none') continue;
      const further = left === 'the last one' ? { further: 'in the log alone, for an hour' } : {};
      await this.#write({ address, peer, subject }, { by, failures, name_hash: nameHash, ...further });
    }
  }

  /** The answer to a wrong password does not depend on whether this can be written. */
  async #write(
    about: Pick<AuditedAction, 'address' | 'peer' | 'subject'>,
    detail: AuditedAction['detail'],
  ): Promise<void> {
    const act = {
      ...about,
      userId: null,
      actor: ACTOR,
      action: 'login.throttle',
      projectId: null,
      mode: null,
    };
    try {
      await recordAudit(this.#dependencies, { ...act, detail }, 'done', null);
    } catch (error) {
      this.#dependencies.log.warn(
        { error: String(error) },
        'a throttle could not be written into the audit log',
      );
    }
  }
}

/** Allows a number of entries an hour. */
class HourlyLimiter {
  readonly #clock: Clock;
  #from: Instant | null = null;
  #taken = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(): 'one' | 'the last one' | 'none' {
    const now = this.#clock.now();
    if (this.#from === null || Math.abs(now - this.#from) >= HOUR_MS) {
      this.#from = now;
      this.#taken = 0;
    }
    this.#taken += 1;
    if (this.#taken > ENTRIES_PER_HOUR_MAX) return 'none';
    return this.#taken === ENTRIES_PER_HOUR_MAX ? 'the last one' : 'one';
  }
}
