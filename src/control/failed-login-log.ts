/**
 * Records wrong passwords. Each one is a log line. A throttle that starts is an entry of the audit log too.
 *
 * A typed name may be anything, even a password in the wrong field. So a log line has its keyed hash, which still shows
 * that several guesses used the same name. The audit log names only users who exist.
 */
import type { Instant } from '#src/domain/instant.ts';
import type { User } from '#src/ports/people-store.ts';
import type { Clock } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';
import type { Vault } from '#src/ports/vault.ts';
import { type AuditDependencies, type AuditedAction, recordAudit } from './audit.ts';
import type { ThrottleStart } from './login-throttle.ts';

const HOUR_MS = 3_600_000;
/** Guesses from many addresses start many throttles. Beyond this number in an hour, only the log has them. */
const ENTRIES_PER_HOUR_MAX = 100;
/** No user can have this name. */
const ACTOR = 'failed logins';
const NAME_SCOPE = 'login-name';

export interface FailedLogin {
  readonly name: string;
  readonly address: string;
  readonly peer: string;
  /** The user of that name, if there is one. */
  readonly user: User | null;
  /** The throttles that this guess starts. */
  readonly throttlesStarted: readonly ThrottleStart[];
}

export interface FailedLoginLogDependencies extends AuditDependencies {
  readonly log: Log;
  readonly vault: Pick<Vault, 'keyedHash'>;
}

export class FailedLoginLog {
  readonly #dependencies: FailedLoginLogDependencies;
  /** Guesses with unknown names must not use up the entries of known ones, so each kind has its own limit. */
  readonly #knownNames: HourlyLimiter;
  readonly #unknownNames: HourlyLimiter;

  constructor(dependencies: FailedLoginLogDependencies) {
    this.#dependencies = dependencies;
    this.#knownNames = new HourlyLimiter(dependencies.clock);
    this.#unknownNames = new HourlyLimiter(dependencies.clock);
  }

  async record({ name, address, peer, user, throttlesStarted }: FailedLogin): Promise<void> {
    const { log, vault } = this.#dependencies;
    const nameHash = vault.keyedHash(NAME_SCOPE, name);
    log.warn({ address, name_hash: nameHash }, 'a login failed');
    for (const { by, failures } of throttlesStarted) {
      log.warn({ address, name_hash: nameHash, by, failures }, 'logins are throttled');
      const subject = by === 'address' ? '' : (user?.name ?? '');
      const permit = (subject === '' ? this.#unknownNames : this.#knownNames).take();
      if (permit === 'none') continue;
      const further = permit === 'last' ? { further: 'only in the log, for an hour' } : {};
      await this.#write({
        userId: null,
        actor: ACTOR,
        address,
        peer,
        action: 'login.throttle',
        subject,
        detail: { by, failures, name_hash: nameHash, ...further },
      });
    }
  }

  /** A failed write does not change the answer to a wrong password. */
  async #write(action: AuditedAction): Promise<void> {
    try {
      await recordAudit(this.#dependencies, action, 'done', null);
    } catch (error) {
      this.#dependencies.log.warn(
        { error: String(error) },
        'a throttle could not be written into the audit log',
      );
    }
  }
}

/** Allows `ENTRIES_PER_HOUR_MAX` entries an hour. */
class HourlyLimiter {
  readonly #clock: Clock;
  #windowStart: Instant | null = null;
  #taken = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(): 'one' | 'last' | 'none' {
    const now = this.#clock.now();
    if (this.#windowStart === null || Math.abs(now - this.#windowStart) >= HOUR_MS) {
      this.#windowStart = now;
      this.#taken = 0;
    }
    this.#taken += 1;
    if (this.#taken > ENTRIES_PER_HOUR_MAX) return 'none';
    return this.#taken === ENTRIES_PER_HOUR_MAX ? 'last' : 'one';
  }
}
