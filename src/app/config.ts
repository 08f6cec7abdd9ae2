/** Settings as they were given: a flag wins over the environment, and an empty text counts as unset in both. */
import type { DatabaseAddress } from '#src/store/postgres/address.ts';
import { SettingsError } from './failures.ts';
import { SETTINGS, type Setting, type Settings } from './settings.ts';

/** What the command line needs to work on the same data as the service. */
export const CONTROL_SETTINGS = ['dataDir', 'databaseUrl', 'masterKey', 'masterKeysPrevious'] as const;
export type ControlSettings = Pick<Settings, (typeof CONTROL_SETTINGS)[number]>;

export interface Given {
  /** By flag: `--port`. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function readSettings(given: Given): Settings {
  return {
    ...readControlSettings(given),
    host: read(SETTINGS.host, given),
    port: read(SETTINGS.port, given),
    role: read(SETTINGS.role, given),
    egressAllow: read(SETTINGS.egressAllow, given),
    egressAllowHttp: read(SETTINGS.egressAllowHttp, given),
    egressCertificates: read(SETTINGS.egressCertificates, given),
    bootstrapTestKey: read(SETTINGS.bootstrapTestKey, given),
    bootstrapLiveKey: read(SETTINGS.bootstrapLiveKey, given),
    bootstrapSigningSecret: read(SETTINGS.bootstrapSigningSecret, given),
    retentionMs: read(SETTINGS.retentionMs, given),
    shutdownGraceMs: read(SETTINGS.shutdownGraceMs, given),
    logLevel: read(SETTINGS.logLevel, given),
  };
}

export function readControlSettings(given: Given): ControlSettings {
  const settings = readStoreSettings(given);
  if (settings.databaseUrl !== null && settings.masterKey === null) {
    const { env } = SETTINGS.masterKey;
    throw new SettingsError(
      `${env} must be set where ${SETTINGS.databaseUrl.env} is, to the same key on every node.`,
    );
  }
  return settings;
}

/** Both stores are named: from the data directory, where the master key may be, to the database. */
export type MoveSettings = ControlSettings & { readonly databaseUrl: DatabaseAddress };

export function readMoveSettings(given: Given): MoveSettings {
  const { databaseUrl, ...settings } = readStoreSettings(given);
  if (databaseUrl === null) {
    throw new SettingsError(`${SETTINGS.databaseUrl.env} must be set: it says where to move to.`);
  }
  return { ...settings, databaseUrl };
}

function readStoreSettings(given: Given): ControlSettings {
  return {
    dataDir: read(SETTINGS.dataDir, given),
    databaseUrl: read(SETTINGS.databaseUrl, given),
    masterKey: read(SETTINGS.masterKey, given),
    masterKeysPrevious: read(SETTINGS.masterKeysPrevious, given),
  };
}

function read<T>(setting: Setting<T>, { flags, env }: Given): T {
  const flag = flags[setting.flag] ?? '';
  if (flag !== '') return parseOr(setting, `${setting.flag} (${setting.env})`, flag);
  const text = env[setting.env] ?? '';
  return text === '' ? setting.unset : parseOr(setting, setting.env, text);
}

const SHOWN_CHARACTERS_MAX = 60;

function parseOr<T>(setting: Setting<T>, name: string, text: string): T {
  const value = setting.parse(text);
  if (value !== undefined) return value;
  const shown = setting.secret ? '' : `, not ${JSON.stringify(text.slice(0, SHOWN_CHARACTERS_MAX))}`;
  throw new SettingsError(`${name} ${setting.explain?.(text) ?? setting.complaint}${shown}.`);
}
