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
/** The name and the value. */
const PARAMETER = /^([a-z_]{1,32})=([^=]*)$/s;
const NOT_A_PARAMETER = 'must have its parameters as name=value, joined by &';
const KNOWN_PARAMETERS = [
  'application_name',
  'connect_timeout',
  'host',
  'pgbouncer',
  'port',
  'sslmode',
  'sslrootcert',
  'target_session_attrs',
];
/** The message lists known parameters. It does not repeat the unknown one, which may be the rest of a password. */
const NOT_KNOWN = `has a parameter other than ${KNOWN_PARAMETERS.join(', ')}`;

const DIGITS = /^\d{1,5}$/;

type Parameters = ReadonlyMap<string, string>;

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
  if (text.length > CHARACTERS_MAX) refuse(`must have at most ${CHARACTERS_MAX} characters`);
  if (!SCHEME.test(text)) refuse('must begin with postgres:// or postgresql://');
  const [, login = '', hostList = '', path = '', query = ''] =
    PARTS.exec(text.replace(SCHEME, '')) ?? refuse(NOT_ENCODED);
  const [userText = '', passwordText = '', ...more] = login.split(':');
  if (more.length > 0) refuse(NOT_ENCODED);
  const user = decoded(userText, 'the user') || USER_DEFAULT;
  const password = decoded(passwordText, 'the password') || null;
  const named = hostList === '' ? null : hostsOf(hostList);
  const parameters = parametersOf(query);
  if (named !== null && (parameters.has('host') || parameters.has('port'))) {
    refuse('must name its hosts once: before the database or as parameters');
  }
  return {
    hosts: named ?? hostsOfParameters(parameters),
    user,
    password,
    database: decoded(path, 'the name of the database') || user,
    ...tlsOf(parameters),
    applicationName: applicationNameOf(parameters),
    connectTimeoutMs: timeoutOf(parameters) * 1_000,
    isPooled: oneOf(parameters, 'pgbouncer', ['true', 'false']) === 'true',
  };
}

function hostsOf(list: string): readonly DatabaseHost[] {
  return bounded(list.split(',')).map((item) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/s.exec(item) ?? [];
    const host = decoded(bracketed ?? plain ?? '', 'a host');
    if (bracketed === undefined ? !isHost(host) : !isIPv6(host)) refuse('has a host that is not valid');
    return { host, port: port === undefined ? PORT_DEFAULT : portOf(port) };
  });
}

/** There are as many ports as hosts, or one port for all, as in PostgreSQL's own programs. */
function hostsOfParameters(parameters: Parameters): readonly DatabaseHost[] {
  const hosts = bounded((parameters.get('host') ?? '').split(','));
  const ports = parameters.get('port')?.split(',').map(portOf) ?? [PORT_DEFAULT];
  if (ports.length !== 1 && ports.length !== hosts.length) refuse('must have one port, or one for each host');
  return hosts.map((host, index) => {
    if (host === '') refuse('has no host');
    if (!isHost(host) && !isIPv6(host)) refuse('has a host that is not valid');
    return { host, port: ports[index] ?? ports[0] ?? PORT_DEFAULT };
  });
}

function bounded(items: readonly string[]): readonly string[] {
  return items.length <= HOSTS_MAX ? items : refuse(`must have at most ${HOSTS_MAX} hosts`);
}

function isHost(text: string): boolean {
  return text.startsWith('/') || (HOST_NAME.test(text) && text.length <= HOST_CHARACTERS_MAX);
}

function portOf(text: string): number {
  return numberOf(text, PORT_MAX, `has a port that is not a number from 1 to ${PORT_MAX}`);
}

/**
 * The rules are those of PostgreSQL's own programs. Anybody can get a certificate from a public authority, so it
 * proves something only together with the host name. `system` therefore means `verify-full`, and a mode that does
 * not check the name needs a file.
 */
function tlsOf(parameters: Parameters): Pick<DatabaseAddress, 'tlsMode' | 'rootCertificatePath'> {
  const mode = oneOf(parameters, 'sslmode', TLS_MODES);
  const authorities = parameters.get('sslrootcert') ?? null;
  if (authorities === '') refuse('must have a file or system as sslrootcert');
  if (authorities === 'system') {
    if ((mode ?? 'verify-full') !== 'verify-full') {
      refuse('must have sslmode=verify-full together with sslrootcert=system');
    }
    return { tlsMode: 'verify-full', rootCertificatePath: null };
  }
  if (mode === 'verify-ca' && authorities === null) {
    refuse('must name the file of the authority as sslrootcert for sslmode=verify-ca');
  }
  return { tlsMode: mode ?? 'prefer', rootCertificatePath: authorities };
}

function applicationNameOf(parameters: Parameters): string {
  const name = parameters.get('application_name') ?? APPLICATION_NAME_DEFAULT;
  if (name !== '' && Buffer.byteLength(name) <= NAME_BYTES_MAX) return name;
  return refuse(`must have an application_name of 1 to ${NAME_BYTES_MAX} bytes`);
}

function timeoutOf(parameters: Parameters): number {
  const given = parameters.get('connect_timeout');
  if (given === undefined) return CONNECT_TIMEOUT_DEFAULT_S;
  const why = `must have a connect_timeout of 1 to ${CONNECT_TIMEOUT_MAX_S} seconds`;
  return numberOf(given, CONNECT_TIMEOUT_MAX_S, why);
}

function parametersOf(query: string): Parameters {
  const parameters = new Map<string, string>();
  for (const item of query === '' ? [] : query.split('&')) {
    const [, name = '', value = ''] = PARAMETER.exec(item) ?? refuse(NOT_A_PARAMETER);
    if (!KNOWN_PARAMETERS.includes(name)) refuse(NOT_KNOWN);
    if (parameters.has(name)) refuse(`has a parameter twice: ${name}`);
    parameters.set(name, decoded(value, name));
  }
  // A node that claims deliveries must write.
  if (!['read-write', 'primary'].includes(parameters.get('target_session_attrs') ?? 'primary')) {
    refuse('must have read-write or primary as target_session_attrs: Sched always writes');
  }
  return parameters;
}

function oneOf<T extends string>(parameters: Parameters, name: string, values: readonly T[]): T | undefined {
  const given = parameters.get(name);
  if (given === undefined) return undefined;
  const known = values.find((value) => value === given);
  return known ?? refuse(`must have one of ${values.join(', ')} as ${name}`);
}

/** A whole number from 1 on. */
function numberOf(text: string, max: number, why: string): number {
  const value = DIGITS.test(text) ? Number(text) : 0;
  return value >= 1 && value <= max ? value : refuse(why);
}

/** NUL would end the text early on its way to the server. */
function decoded(text: string, what: string): string {
  let plain: string;
  try {
    plain = decodeURIComponent(text);
  } catch {
    return refuse(`must have ${what} percent-encoded correctly`);
  }
  return plain.includes('\0') ? refuse(`must not have NUL in ${what}`) : plain;
}

function refuse(why: string): never {
  throw new Wrong(why);
}
