/**
 * The settings of `sched dev`. The shell may contain settings of a service. Only those about this machine are
 * used: where to listen, and which networks deliveries may reach. The others are listed when it starts.
 */
import { type Given, readSettings } from '#src/app/config.ts';
import { SettingsError } from '#src/app/failures.ts';
import { SETTINGS, type Settings } from '#src/app/settings.ts';
import { isLoopbackHost, LOOPBACK } from '#src/domain/public-address.ts';
import { DEV_LIVE_KEY, DEV_SIGNING_SECRET, DEV_TEST_KEY } from './keys.ts';

/** Short, so that Ctrl-C does not wait for a receiver that hangs. */
const SHUTDOWN_GRACE_MS = 1_000;
/** Attempts are printed anyway, so only errors of the service itself are logged. */
const LOG_LEVEL = 'error';
/** A developer wants to see why a receiver refused a request, and it is their own. */
const RESPONSE_EXCERPT_BYTES = 4_096;

const USED: ReadonlySet<string> = new Set(
  [SETTINGS.host, SETTINGS.port, SETTINGS.egressAllow, SETTINGS.egressCertificates].map(({ env }) => env),
);

export interface DevSettings {
  readonly settings: Settings;
  /** Names of settings in the environment that `sched dev` ignores. */
  readonly ignored: readonly string[];
}

/** `createTemporary` creates the data directory if none is given. */
export function readDevSettings({ flags, env }: Given, createTemporary: () => string): DevSettings {
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value !== '');
  const read = readSettings({
    flags: { [SETTINGS.logLevel.flag]: LOG_LEVEL, ...flags },
    env: Object.fromEntries(given.filter(([name]) => USED.has(name))),
  });
  requireLoopback(read.host);
  const known = new Set(Object.values(SETTINGS).map(({ env }) => env));
  return {
    settings: {
      ...read,
      dataDir: flags[SETTINGS.dataDir.flag] || createTemporary(),
      egressAllow: [...LOOPBACK, ...(read.egressAllow ?? [])],
      egressAllowHttp: true,
      responseExcerpt: RESPONSE_EXCERPT_BYTES,
      bootstrapTestKey: DEV_TEST_KEY,
      bootstrapLiveKey: DEV_LIVE_KEY,
      bootstrapSigningSecret: DEV_SIGNING_SECRET,
      shutdownGraceMs: SHUTDOWN_GRACE_MS,
    },
    ignored: given
      .map(([name]) => name)
      .filter((name) => known.has(name) && !USED.has(name))
      .sort(),
  };
}

/** The keys are public, so only this machine may reach the service. */
function requireLoopback(host: string): void {
  if (isLoopbackHost(host)) return;
  const { flag, env } = SETTINGS.host;
  throw new SettingsError(
    `${flag} (${env}) must be a loopback address such as 127.0.0.1, because the keys of \`sched dev\` are known to everyone. Use \`sched serve\` to listen on other addresses.`,
  );
}
