import type { IdMint } from '#src/domain/id.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import type { PeopleStore } from '#src/ports/people-store.ts';
import type { Store } from '#src/ports/store.ts';
import type { Clock, Random } from '#src/ports/system.ts';
import type { Vault } from '#src/ports/vault.ts';
import type { FailedLoginLog } from './failed-login-log.ts';
import type { LoginThrottle } from './login-throttle.ts';
import type { Passwords } from './passwords.ts';

/** The dependencies of every part of the control plane. */
export interface ControlDependencies {
  readonly store: ControlStore & Pick<Store, 'findProfile'> & { readonly people: PeopleStore };
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdMint;
}

/** The parts that read or create signing secrets need the vault too. */
export interface SealingDependencies extends ControlDependencies {
  readonly vault: Vault;
}

/** The parts that check or set passwords. */
export interface PeopleDependencies extends ControlDependencies {
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly failedLogins: FailedLoginLog;
}
