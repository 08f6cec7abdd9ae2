/**
 * The address of the database, as SCHED_DATABASE_URL gives it, in the form that PostgreSQL's own programs take:
 *
 *       postgres://user:password@one:5432,two:5433,[::1]:5434/database?sslmode=verify-full
 *       postgres:///database?host=/var/run/postgresql
 *
 * Several hosts are tried in order, until one accepts writes. Parsing is strict: an unknown parameter is refused,
 * because a parameter without effect is worse than an error. Error messages never repeat text that may belong to a
 * password. For the same reason separators must be percent-encoded inside the parts.
 */
import { isIPv6 } from 'node:net';
import { isLoopbackHost } from '#src/domain/public-address.ts';

export const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof TLS_MODES)[number];

export interface DatabaseHost {
  /** A name, an IP address, or the folder of a unix socket. A folder begins with a slash. */
  readonly host: string;
  readonly port: number;
}

export interface DatabaseAddress {
  /** The list has at least one host. */
  readonly hosts: readonly DatabaseHost[];
  readonly user: string;
  readonly password: string | null;
  readonly database: string;
  /** Applies to TCP only, not to unix sockets. */
  readonly tlsMode: TlsMode;
  /** The file with the trusted authorities. If null, Node's own are trusted, and only for `verify-full`. */
  readonly rootCertificatePath: string | null;
  readonly applicationName: string;
  /** The limit for each host. */
  readonly connectTimeoutMs: number;
  /** A transaction pooler is in between. Each transaction may get another session, so no state may be left in one. */
  readonly isPooled: boolean;
}

/** `wrong` completes a sentence that begins with the name of the setting. */
export interface WrongAddress {
  readonly wrong: string;
}

const PORT_DEFAULT = 5_432;
const PORT_MAX = 65_535;
/** The same on every machine. PostgreSQL's own programs use the account that they run as. */
const USER_DEFAULT = 'postgres';
const APPLICATION_NAME_DEFAULT = 'sched';
const CONNECT_TIMEOUT_DEFAULT_S = 5;
const CONNECT_TIMEOUT_MAX_S = 60;
const CHARACTERS_MAX = 4_096;
const HOSTS_MAX = 16;
/** PostgreSQL cuts longer names. */
const NAME_BYTES_MAX = 63;
const HOST_CHARACTERS_MAX = 253;

const SCHEME = /^postgres(ql)?:\/\//;
/** Login, hosts, database and parameters. Their separators occur nowhere else. */
const PARTS = /^(?:([^/?#@]*)@)?([^/?#@]*)(?:\/([^/?#@]*))?(?:\?([^?#@]*))?$/s;
const NOT_ENCODED = 'must have the characters : / ? # @ percent-encoded inside user, password and names';
const HOST_NAME = /^[a-z0-9_][a-z0-9_.-]*$/i;
const PARAMETER_NAME = /^[a-z_]{1,32}$/;
const DIGITS = /^\d{1,5}$/;

/** Carries the reason out of nested parser calls. It never leaves this file. */
class Wrong extends Error {}

export function parseDatabaseAddress(text: string): DatabaseAddress | WrongAddress {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof Wrong) return { wrong: error.message };
    throw error;
  }
}

export function isSocket({ host }: DatabaseHost): boolean {
  return host.startsWith('/');
}

/** A given authority is checked even if the mode does not require it, as PostgreSQL's own programs do. */
export function checksAuthority({ tlsMode, rootCertificatePath }: DatabaseAddress): boolean {
  if (tlsMode === 'require') return rootCertificatePath !== null;
  return tlsMode === 'verify-ca' || tlsMode === 'verify-full';
}

/** Hosts on other machines whose identity is not verified. An attacker on the network could impersonate them. */
export function unverifiedHosts(address: DatabaseAddress): readonly DatabaseHost[] {
  if (checksAuthority(address)) return [];
  return address.hosts.filter((at) => !isSocket(at) && !isLoopbackHost(at.host));
}

/** The name of the database in logs and messages, without user and password. */
export function describeAddress({ hosts, database }: DatabaseAddress): string {
  return `postgres://${hosts.map(describeHost).join(',')}/${encodeURIComponent(database)}`;
}

export function describeHost(at: DatabaseHost): string {
  if (isSocket(at)) return `${encodeURIComponent(at.host)}:${at.port}`;
  return isIPv6(at.host) ? `[${at.host.replace('%', '%25')}]:${at.port}` : `${at.host}:${at.port}`;
}

function parse(text: string): DatabaseAddress {
  if (text.length > CHARACTERS_MAX) throw new Wrong(`must have at most ${CHARACTERS_MAX} characters`);
  if (!SCHEME.test(text)) throw new Wrong('must begin with postgres:// or postgresql://');
  const parts = PARTS.exec(text.replace(SCHEME, ''));
  if (parts === null) throw new Wrong(NOT_ENCODED);
  const [, login, hostList = '', path = '', query = ''] = parts;
  const { user, password } = loginOf(login);
  const named = hostList === '' ? null : hostsOf(hostList);
  const parameters = parametersOf(query);
  if (named !== null && (parameters.has('host') || parameters.has('port'))) {
    throw new Wrong('must name its hosts once: before the database or as parameters');
  }
  const name = user ?? USER_DEFAULT;
  return {
    hosts: named ?? hostsOfParameters(parameters),
    user: name,
    password,
    database: path === '' ? name : decoded(path, 'the name of the database'),
    ...settingsOf(parameters),
  };
}

interface Login {
  readonly user: string | undefined;
  readonly password: string | null;
}

function loginOf(text: string | undefined): Login {
  const [user = '', password = '', ...more] = text?.split(':') ?? [];
  if (more.length > 0) throw new Wrong(NOT_ENCODED);
  return {
    user: user === '' ? undefined : decoded(user, 'the user'),
    password: password === '' ? null : decoded(password, 'the password'),
  };
}

function hostsOf(list: string): readonly DatabaseHost[] {
  return bounded(list.split(',')).map((item) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/s.exec(item) ?? [];
    const host = decoded(bracketed ?? plain ?? '', 'a host');
    if (bracketed === undefined ? !isHost(host) : !isIPv6(host))
      throw new Wrong('has a host that is not valid');
    return { host, port: port === undefined ? PORT_DEFAULT : portOf(port) };
  });
}

/** There are as many ports as hosts, or one port for all, as in PostgreSQL's own programs. */
function hostsOfParameters(parameters: ReadonlyMap<string, string>): readonly DatabaseHost[] {
  const hosts = bounded((parameters.get('host') ?? '').split(','));
  const ports = parameters.get('port')?.split(',').map(portOf) ?? [PORT_DEFAULT];
  if (ports.length !== 1 && ports.length !== hosts.length) {
    throw new Wrong('must have one port, or one for each host');
  }
  return hosts.map((host, index) => {
    if (host === '') throw new Wrong('has no host');
    if (!isHost(host) && !isIPv6(host)) throw new Wrong('has a host that is not valid');
    return { host, port: ports[index] ?? ports[0] ?? PORT_DEFAULT };
  });
}

function bounded(items: readonly string[]): readonly string[] {
  if (items.length > HOSTS_MAX) throw new Wrong(`must have at most ${HOSTS_MAX} hosts`);
  return items;
}

function isHost(text: string): boolean {
  return text.startsWith('/') || (HOST_NAME.test(text) && text.length <= HOST_CHARACTERS_MAX);
}

function portOf(text: string): number {
  return wholeNumber(text, PORT_MAX) ?? refuse(`has a port that is not a number from 1 to ${PORT_MAX}`);
}

type Settings = Omit<DatabaseAddress, 'hosts' | 'user' | 'password' | 'database'>;

function settingsOf(parameters: ReadonlyMap<string, string>): Settings {
  const seconds = parameters.get('connect_timeout');
  return {
    ...tlsOf(parameters),
    applicationName: applicationNameOf(parameters),
    connectTimeoutMs: (seconds === undefined ? CONNECT_TIMEOUT_DEFAULT_S : timeoutOf(seconds)) * 1_000,
    isPooled: oneOf(parameters, 'pgbouncer', ['true', 'false']) === 'true',
  };
}

/**
 * The rules are those of PostgreSQL's own programs. Anybody can get a certificate from a public authority, so it
 * proves something only together with the host name. `system` therefore means `verify-full`, and a mode that does
 * not check the name needs a file.
 */
function tlsOf(
  parameters: ReadonlyMap<string, string>,
): Pick<DatabaseAddress, 'tlsMode' | 'rootCertificatePath'> {
  const mode = oneOf(parameters, 'sslmode', TLS_MODES);
  const authorities = parameters.get('sslrootcert');
  if (authorities === '') throw new Wrong('must have a file or system as sslrootcert');
  if (authorities === 'system') {
    if (mode !== undefined && mode !== 'verify-full') {
      throw new Wrong('must have sslmode=verify-full together with sslrootcert=system');
    }
    return { tlsMode: 'verify-full', rootCertificatePath: null };
  }
  if (mode === 'verify-ca' && authorities === undefined) {
    throw new Wrong('must name the file of the authority as sslrootcert for sslmode=verify-ca');
  }
  return { tlsMode: mode ?? 'prefer', rootCertificatePath: authorities ?? null };
}

function applicationNameOf(parameters: ReadonlyMap<string, string>): string {
  const name = parameters.get('application_name') ?? APPLICATION_NAME_DEFAULT;
  if (name === '' || Buffer.byteLength(name) > NAME_BYTES_MAX) {
    throw new Wrong(`must have an application_name of 1 to ${NAME_BYTES_MAX} bytes`);
  }
  return name;
}

function timeoutOf(text: string): number {
  return (
    wholeNumber(text, CONNECT_TIMEOUT_MAX_S) ??
    refuse(`must have a connect_timeout of 1 to ${CONNECT_TIMEOUT_MAX_S} seconds`)
  );
}

const KNOWN_PARAMETERS = new Set([
  'application_name',
  'connect_timeout',
  'host',
  'pgbouncer',
  'port',
  'sslmode',
  'sslrootcert',
  'target_session_attrs',
]);
/** The message lists known parameters. It does not repeat the unknown one, which may be the rest of a password. */
const NOT_KNOWN = `has a parameter other than ${[...KNOWN_PARAMETERS].join(', ')}`;

function parametersOf(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const item of query === '' ? [] : query.split('&')) {
    const [name = '', value, ...more] = item.split('=');
    if (!PARAMETER_NAME.test(name) || value === undefined || more.length > 0) {
      throw new Wrong('must have its parameters as name=value, joined by &');
    }
    if (!KNOWN_PARAMETERS.has(name)) throw new Wrong(NOT_KNOWN);
    if (parameters.has(name)) throw new Wrong(`has a parameter twice: ${name}`);
    parameters.set(name, decoded(value, name));
  }
  refuseStandbys(parameters);
  return parameters;
}

/** A node that claims deliveries must write. */
function refuseStandbys(parameters: ReadonlyMap<string, string>): void {
  const wanted = parameters.get('target_session_attrs') ?? 'read-write';
  if (wanted !== 'read-write' && wanted !== 'primary') {
    throw new Wrong('must have read-write or primary as target_session_attrs: Sched always writes');
  }
}

function oneOf<T extends string>(
  parameters: ReadonlyMap<string, string>,
  name: string,
  values: readonly T[],
): T | undefined {
  const given = parameters.get(name);
  if (given === undefined) return undefined;
  return (
    values.find((value) => value === given) ?? refuse(`must have one of ${values.join(', ')} as ${name}`)
  );
}

function wholeNumber(text: string, max: number): number | undefined {
  const value = DIGITS.test(text) ? Number(text) : 0;
  return value >= 1 && value <= max ? value : undefined;
}

/** NUL would end the text early on its way to the server. */
function decoded(text: string, what: string): string {
  let plain: string;
  try {
    plain = decodeURIComponent(text);
  } catch {
    throw new Wrong(`must have ${what} percent-encoded correctly`);
  }
  if (plain.includes('\0')) throw new Wrong(`must not have NUL in ${what}`);
  return plain;
}

function refuse(why: string): never {
  throw new Wrong(why);
}
