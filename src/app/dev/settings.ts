/**
 * The settings of `sched dev`. A shell may be set up for a service; of that only what is about this machine is
 * taken over: where to listen, and whom deliveries may reach besides. What is left out is named, so that nobody
 * wonders.
 */

import { type Given, readSettings } from '#src/app/config.ts';
import { SettingsError } from '#src/app/failures.ts';
import { SETTINGS, type Settings } from '#src/app/settings.ts';
import { isLoopbackHost, LOOPBACK } from '#src/domain/public-address.ts';
import { DEV_LIVE_KEY, DEV_SIGNING_SECRET, DEV_TEST_KEY } from './keys.ts';

/** A receiver that hangs does not keep whoever presses Ctrl-C waiting. */
const SHUTDOWN_GRACE_MS = 1_000;
/** Nothing goes wrong in a playground that is not shown, but for faults of the service itself. */
const LOG_LEVEL = 'error';

const TAKEN_OVER: ReadonlySet<string> = new Set(
  [SETTINGS.host, SETTINGS.port, SETTINGS.egressAllow, SETTINGS.egressCertificates].map(({ env }) => env),
);

export interface DevSettings {
  readonly settings: Settings;
  /** Names of settings in the environment that have no effect here. */
  readonly unused: readonly string[];
}

/** `temporary`: makes the directory that is used where none is given. */
export function readDevSettings({ flags, env }: Given, temporary: () => string): DevSettings {
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value !== '');
  const read = readSettings({
    flags: { [SETTINGS.logLevel.flag]: LOG_LEVEL, ...flags },
    env: Object.fromEntries(given.filter(([name]) => TAKEN_OVER.has(name))),
  });
  requireLoopback(read.host);
  const own = new Set(Object.values(SETTINGS).map(({ env }) => env));
  return {
    settings: {
      ...read,
      dataDir: flags[SETTINGS.dataDir.flag] || temporary(),
      egressAllow: [...LOOPBACK, ...(read.egressAllow ?? [])],
      egressAllowHttp: true,
      bootstrapTestKey: DEV_TEST_KEY,
      bootstrapLiveKey: DEV_LIVE_KEY,
      bootstrapSigningSecret: DEV_SIGNING_SECRET,
      shutdownGraceMs: SHUTDOWN_GRACE_MS,
    },
    unused: given
      .map(([name]) => name)
      .filter((name) => own.has(name) && !TAKEN_OVER.has(name))
      .sort(),
  };
}

/** With keys that everyone knows, nobody but this machine may reach it. */
function requireLoopback(host: string): void {
  if (isLoopbackHost(host)) return;
  const { flag, env } = SETTINGS.host;
  throw new SettingsError(
    `${flag} (${env}) must be an address of this machine alone, such as 127.0.0.1: the keys of \`sched dev\` are known to everyone. For others there is \`sched serve\`.`,
  );
}
