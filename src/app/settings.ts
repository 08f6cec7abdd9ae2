/**
 * Defines every setting once: its name, its meaning, its default and its parser. The flags of the command
 * line, its help and the table in `docs/settings.md` all come from here.
 */
import { API_KEY_CHARACTERS_MIN } from '#src/domain/api-key.ts';
import { RESPONSE_EXCERPT_BYTES_MAX } from '#src/domain/endpoint-profile.ts';
import { LOG_LEVELS } from '#src/ports/telemetry.ts';
import { parseMasterKey } from '#src/vault/master-key.ts';
import {
  apiKeyOf,
  correctDurationUpTo,
  durationUpTo,
  explainDatabaseUrl,
  oneOf,
  parseBoolean,
  parseCidrs,
  parseDatabaseUrl,
  parseHost,
  parseMasterKeys,
  parseOrigins,
  parsePort,
  parseProxies,
  parseSigningSecret,
  readCertificates,
  SIGNING_SECRET_CHARACTERS_MIN,
  wholeNumberUpTo,
} from './setting-values.ts';

export const ROLES = ['all', 'api', 'dispatcher'] as const;

const DAY_MS = 86_400_000;
/** The only limit is that of a duration itself, which is 2^63 nanoseconds. */
const DURATION_MAX_MS = Number.POSITIVE_INFINITY;

interface Row<T> {
  readonly env: string;
  /** The placeholder for the value in a help text. */
  readonly value: string;
  readonly about: string;
  /** Completes a sentence that starts with the name of the setting, if its value is not valid. */
  readonly complaint: string;
  /** A secret is never shown, not even if it is wrong. */
  readonly secret?: true;
  readonly parse: (text: string) => T | undefined;
  /** A more exact complaint about this text, or null. */
  readonly explain?: (text: string) => string | null;
  /** The value that was probably meant, or null. */
  readonly correct?: (text: string) => string | null;
}

export interface Setting<T> extends Row<T> {
  readonly flag: string;
  /** The default as text, or null if there is none. */
  readonly fallback: string | null;
  readonly unset: T;
}

function setting<T>(fallback: string, row: Row<T>): Setting<T> {
  const unset = row.parse(fallback);
  if (unset === undefined) throw new Error(`The default of ${row.env} cannot be parsed.`);
  return { ...row, flag: flagOf(row.env), fallback, unset };
}

function optional<T>(row: Row<T>): Setting<T | null> {
  return { ...row, flag: flagOf(row.env), fallback: null, unset: null };
}

/** Defines the setting that names a file with the value of another setting. */
function fileOf(env: string): Setting<string | null> {
  return optional({
    env: `${env}_FILE`,
    value: 'path',
    about: `A file that contains the value of \`${env}\`, such as a secret of Docker or Kubernetes. Only one of the two may be set.`,
    complaint: 'must be a path',
    secret: true,
    parse: (path) => path,
  });
}

function flagOf(env: string): string {
  return `--${env.replace('SCHED_', '').toLowerCase().replaceAll('_', '-')}`;
}

export const SETTINGS = {
  host: setting('127.0.0.1', {
    env: 'SCHED_HOST',
    value: 'address',
    about:
      'The address to listen on: an IP address or a host name of this machine. `0.0.0.0` means all IPv4 addresses.',
    complaint: 'must be an IP address or a host name',
    parse: parseHost,
  }),
  port: setting('8080', {
    env: 'SCHED_PORT',
    value: 'number',
    about: 'The port to listen on. With `0` the system chooses a free port.',
    complaint: 'must be a whole number from 0 to 65535',
    parse: parsePort,
  }),
  dataDir: setting('./data', {
    env: 'SCHED_DATA_DIR',
    value: 'path',
    about: 'The directory of the SQLite database and of the generated master key.',
    complaint: 'must be a path',
    parse: (text) => text,
  }),
  databaseUrl: optional({
    env: 'SCHED_DATABASE_URL',
    value: 'url',
    about:
      'The PostgreSQL database that all nodes share, such as `postgres://user:password@host:5432/database`. Separate several hosts by commas. If unset, Sched uses SQLite in the data directory.',
    complaint: 'must be an address such as postgres://user:password@host:5432/database',
    secret: true,
    parse: parseDatabaseUrl,
    explain: explainDatabaseUrl,
  }),
  databaseUrlFile: fileOf('SCHED_DATABASE_URL'),
  masterKey: optional({
    env: 'SCHED_MASTER_KEY',
    value: 'base64',
    about:
      'The key that encrypts headers, bodies and signing secrets: 32 bytes in base64. If unset, Sched generates one in the data directory (`master.key`, mode 0600). With PostgreSQL it is required, with the same value on every node.',
    complaint: 'must be 32 bytes in base64, such as `openssl rand -base64 32` prints',
    secret: true,
    parse: (text) => parseMasterKey(text) ?? undefined,
  }),
  masterKeyFile: fileOf('SCHED_MASTER_KEY'),
  masterKeysPrevious: optional({
    env: 'SCHED_MASTER_KEY_PREVIOUS',
    value: 'base64,…',
    about: 'Earlier master keys, separated by commas. Data that was encrypted with them can still be read.',
    complaint: 'must be keys of 32 bytes in base64, separated by commas',
    secret: true,
    parse: parseMasterKeys,
  }),
  masterKeysPreviousFile: fileOf('SCHED_MASTER_KEY_PREVIOUS'),
  role: setting('all', {
    env: 'SCHED_ROLE',
    value: 'role',
    about:
      'The role of this node in a cluster: `api` serves requests, `dispatcher` sends deliveries and serves only the probes, `all` does both. With SQLite use `all`, or `api` to send nothing for now.',
    complaint: `must be one of ${ROLES.join(', ')}`,
    parse: oneOf(ROLES),
  }),
  publicOrigins: optional({
    env: 'SCHED_PUBLIC_URL',
    value: 'url,…',
    about:
      'The address of the dashboard, such as `https://sched.example.com`. Separate several origins by commas. Links start with the first. The dashboard refuses requests under any other name, and changes from pages of any other origin. If unset, it accepts any name.',
    complaint:
      'must be at most 16 origins, separated by commas, such as https://sched.example.com, without path and user',
    parse: parseOrigins,
  }),
  trustedProxies: optional({
    env: 'SCHED_TRUSTED_PROXIES',
    value: 'cidr,…',
    about:
      'The proxies in front of the dashboard, as addresses or CIDRs separated by commas (`10.1.0.0/16,fd00::7`). Only their `X-Forwarded-For` header is trusted. If unset, the header is ignored, and the address of a client is the one that connects.',
    complaint:
      'must be addresses or networks in CIDR notation, separated by commas, such as 10.1.0.0/16,fd00::7',
    parse: parseProxies,
  }),
  egressAllow: optional({
    env: 'SCHED_EGRESS_ALLOW',
    value: 'cidr,…',
    about:
      'The private networks that deliveries may reach, as CIDRs separated by commas (`10.1.0.0/16,fd00::/8`). If unset, deliveries reach only public addresses.',
    complaint: 'must be networks in CIDR notation, separated by commas, such as 10.1.0.0/16,fd00::/8',
    parse: parseCidrs,
  }),
  egressAllowHttp: setting('false', {
    env: 'SCHED_EGRESS_ALLOW_HTTP',
    value: 'true|false',
    about: 'Whether plain `http://` may be used inside the networks of `SCHED_EGRESS_ALLOW`.',
    complaint: 'must be true or false',
    parse: parseBoolean,
  }),
  egressCertificates: optional({
    env: 'SCHED_EGRESS_CA_FILE',
    value: 'path',
    about: 'A PEM file with more certificate authorities, for private receivers.',
    complaint: 'must be a readable file of certificates in PEM form',
    parse: readCertificates,
  }),
  responseExcerpt: setting('0', {
    env: 'SCHED_RESPONSE_EXCERPT',
    value: 'bytes',
    about: `How many bytes are kept of an answer that is not 2xx, up to ${RESPONSE_EXCERPT_BYTES_MAX}, where the endpoint profile does not say it. With \`0\` none are. Nothing is kept from addresses that only \`SCHED_EGRESS_ALLOW\` permits.`,
    complaint: `must be a whole number from 0 to ${RESPONSE_EXCERPT_BYTES_MAX}`,
    parse: wholeNumberUpTo(RESPONSE_EXCERPT_BYTES_MAX),
  }),
  bootstrapTestKey: optional({
    env: 'SCHED_BOOTSTRAP_TEST_KEY',
    value: 'key',
    about:
      'The test key of the project `default`: `sk_test_` and at least 16 characters. If unset, Sched generates one and prints it at the first start.',
    complaint: `must be sk_test_ followed by at least ${API_KEY_CHARACTERS_MIN} visible ASCII characters`,
    secret: true,
    parse: apiKeyOf('test'),
  }),
  bootstrapLiveKey: optional({
    env: 'SCHED_BOOTSTRAP_LIVE_KEY',
    value: 'key',
    about:
      'The live key of the project `default`: `sk_live_` and at least 16 characters. If unset, Sched generates one and prints it at the first start.',
    complaint: `must be sk_live_ followed by at least ${API_KEY_CHARACTERS_MIN} visible ASCII characters`,
    secret: true,
    parse: apiKeyOf('live'),
  }),
  bootstrapSigningSecret: optional({
    env: 'SCHED_BOOTSTRAP_SIGNING_SECRET',
    value: 'secret',
    about:
      'The signing secret of the project `default` in both modes, at least 16 characters. If unset, Sched generates one for each mode and prints them at the first start.',
    complaint: `must have at least ${SIGNING_SECRET_CHARACTERS_MIN} characters`,
    secret: true,
    parse: parseSigningSecret,
  }),
  retentionMs: setting('2160h', {
    env: 'SCHED_RETENTION',
    value: 'duration',
    about: 'How long schedules and deliveries that ended are kept. `0` keeps them forever.',
    complaint: 'must be a duration of at least 0, such as 2160h or 0',
    parse: durationUpTo(DURATION_MAX_MS),
    correct: correctDurationUpTo(DURATION_MAX_MS),
  }),
  auditRetentionMs: setting('8760h', {
    env: 'SCHED_AUDIT_RETENTION',
    value: 'duration',
    about: 'How long entries of the audit log are kept. `0` keeps them forever.',
    complaint: 'must be a duration of at least 0, such as 8760h or 0',
    parse: durationUpTo(DURATION_MAX_MS),
    correct: correctDurationUpTo(DURATION_MAX_MS),
  }),
  shutdownGraceMs: setting('30s', {
    env: 'SCHED_SHUTDOWN_GRACE',
    value: 'duration',
    about: 'How long a stop waits for requests and attempts in flight, at most 24h.',
    complaint: 'must be a duration from 0 to 24h, such as 30s',
    parse: durationUpTo(DAY_MS),
    correct: correctDurationUpTo(DAY_MS),
  }),
  logLevel: setting('info', {
    env: 'SCHED_LOG_LEVEL',
    value: 'level',
    about: `The lowest level that is logged: \`${LOG_LEVELS.join('`, `')}\`.`,
    complaint: `must be one of ${LOG_LEVELS.join(', ')}`,
    parse: oneOf(LOG_LEVELS),
  }),
} as const;

type ValueOf<S> = S extends Setting<infer T> ? T : never;
/** The file of a setting is not a value of its own. */
type ValueName = Exclude<keyof typeof SETTINGS, `${string}File`>;
export type Settings = { readonly [K in ValueName]: ValueOf<(typeof SETTINGS)[K]> };
