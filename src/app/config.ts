/** Reads the settings. A flag wins over the environment, and an empty text counts as unset in both. */
import type { DatabaseAddress } from '#src/store/postgres/address.ts';
import { SettingsError } from './failures.ts';
import { readSecretFile } from './secret-file.ts';
import { SETTINGS, type Setting, type Settings } from './settings.ts';

/** The settings that a command needs to work on the same data as the service. */
export const CONTROL_SETTINGS = [
  'dataDir',
  'databaseUrl',
  'databaseUrlFile',
  'masterKey',
  'masterKeyFile',
  'masterKeysPrevious',
  'masterKeysPreviousFile',
] as const;
export type ControlSettings = Pick<Settings, (typeof CONTROL_SETTINGS)[number] & keyof Settings>;

export interface Given {
  /** Values by flag, such as `--port`. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function readSettings(given: Given): Settings {
  return {
    ...readControlSettings(given),
    host: read(SETTINGS.host, given),
    port: read(SETTINGS.port, given),
    role: read(SETTINGS.role, given),
    publicOrigins: readPublicOrigins(given),
    trustedProxies: read(SETTINGS.trustedProxies, given),
    egressAllow: read(SETTINGS.egressAllow, given),
    egressAllowHttp: read(SETTINGS.egressAllowHttp, given),
    egressCertificates: read(SETTINGS.egressCertificates, given),
    responseExcerpt: read(SETTINGS.responseExcerpt, given),
    bootstrapTestKey: read(SETTINGS.bootstrapTestKey, given),
    bootstrapLiveKey: read(SETTINGS.bootstrapLiveKey, given),
    bootstrapSigningSecret: read(SETTINGS.bootstrapSigningSecret, given),
    retentionMs: read(SETTINGS.retentionMs, given),
    auditRetentionMs: read(SETTINGS.auditRetentionMs, given),
    shutdownGraceMs: read(SETTINGS.shutdownGraceMs, given),
    logLevel: read(SETTINGS.logLevel, given),
  };
}

/** Links for people start with the first origin. */
export function readPublicOrigins(given: Given): Settings['publicOrigins'] {
  return read(SETTINGS.publicOrigins, given);
}

/** Whether the operator allows plain http:// destinations. */
export function readHttpAllowed(given: Given): boolean {
  return read(SETTINGS.egressAllowHttp, given) && read(SETTINGS.egressAllow, given) !== null;
}

export function readControlSettings(given: Given): ControlSettings {
  const settings = readStoreSettings(given);
  if (settings.databaseUrl !== null && settings.masterKey === null) {
    const { masterKey, masterKeyFile, databaseUrl } = SETTINGS;
    throw new SettingsError(
      `${masterKey.env} or ${masterKeyFile.env} must be set together with ${databaseUrl.env}, to the same key on every node.`,
    );
  }
  return settings;
}

/** A move needs both stores: the data directory, which may hold the master key, and the database. */
export type MoveSettings = ControlSettings & { readonly databaseUrl: DatabaseAddress };

export function readMoveSettings(given: Given): MoveSettings {
  const { databaseUrl, ...settings } = readStoreSettings(given);
  if (databaseUrl === null) {
    throw new SettingsError(
      `${SETTINGS.databaseUrl.env} must be set to the database that the data is moved to.`,
    );
  }
  return { ...settings, databaseUrl };
}

function readStoreSettings(given: Given): ControlSettings {
  return {
    dataDir: read(SETTINGS.dataDir, given),
    databaseUrl: readSecret(SETTINGS.databaseUrl, SETTINGS.databaseUrlFile, given),
    masterKey: readSecret(SETTINGS.masterKey, SETTINGS.masterKeyFile, given),
    masterKeysPrevious: readSecret(SETTINGS.masterKeysPrevious, SETTINGS.masterKeysPreviousFile, given),
  };
}

function read<T>(setting: Setting<T>, given: Given): T {
  const found = textOf(setting, given);
  return found === null ? setting.unset : parseOr(setting, found.name, found.text);
}

/** Reads the setting, or the file that holds its value. Setting both is an error, because one must be wrong. */
function readSecret<T>(setting: Setting<T>, fileSetting: Setting<string | null>, given: Given): T {
  const file = textOf(fileSetting, given);
  if (file === null) return read(setting, given);
  const direct = textOf(setting, given);
  if (direct !== null) {
    throw new SettingsError(`${file.name} and ${direct.name} must not both be set. Remove one of the two.`);
  }
  const content = readSecretFile(file.text);
  if (typeof content !== 'string') throw new SettingsError(`${file.name} ${content.wrong}.`);
  return parseOr(setting, `The content of ${file.name}`, content);
}

interface Found {
  /** The flag or variable that sets the value. */
  readonly name: string;
  readonly text: string;
}

function textOf({ flag, env: name }: Setting<unknown>, { flags, env }: Given): Found | null {
  const given = flags[flag] ?? '';
  if (given !== '') return { name: `${flag} (${name})`, text: given };
  const text = env[name] ?? '';
  return text === '' ? null : { name, text };
}

const SHOWN_CHARACTERS_MAX = 60;

function parseOr<T>(setting: Setting<T>, name: string, text: string): T {
  const value = setting.parse(text);
  if (value !== undefined) return value;
  const shown = setting.secret ? '' : `, not ${JSON.stringify(text.slice(0, SHOWN_CHARACTERS_MAX))}`;
  const corrected = setting.correct?.(text) ?? null;
  const hint = corrected === null ? '' : ` Write "${corrected}".`;
  throw new SettingsError(`${name} ${setting.explain?.(text) ?? setting.complaint}${shown}.${hint}`);
}
