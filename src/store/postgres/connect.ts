/**
 * Opens a connection to a server that takes writes.
 *
 * The hosts of the address are tried in their order, and of a name that stands for several machines each: after
 * a failover the one that was the primary may be back as a standby, and is left as soon as it has said so.
 * The way to each one, with the login and that question, takes a bounded time. When none will do, one error
 * says of each why.
 */
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Client, DatabaseError } from 'pg';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Timers } from '#src/ports/system.ts';
import {
  checksAuthority,
  type DatabaseAddress,
  type DatabaseHost,
  describeHost,
  isSocket,
} from './address.ts';
import { codeOf } from './faults.ts';

/** A connection, as far as migrations need one. */
export interface Queryable {
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly object[] }>;
}

export interface ConnectOptions {
  readonly timers: Timers;
  /** Makes of a stored text the one that was meant. */
  readonly decodeText: (stored: string) => string;
  /** Whether a statement that the server keeps is planned once. Default: each time. */
  readonly cachesPlans?: boolean;
  /** What every connection needs before it is used; within the same time. */
  readonly prepare?: (client: Client) => Promise<void>;
  /** The addresses of a name. Default: what the system says. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

const KEEP_ALIVE_AFTER_MS = 10_000;
const ADDRESSES_MAX = 16;

const INT8 = 20;
const TEXT_TYPES = [25, 1_043];

const TAKES_WRITES = `SELECT pg_is_in_recovery() AS is_standby,
  current_setting('transaction_read_only') = 'on' AS is_read_only`;

/**
 * Every statement here is a walk along an index or a look-up by key, joined row by row. Of a table that was never
 * analysed, as in a fresh database, the planner would not believe it. A plan that it made when the table was small
 * does not do any more when it has grown: so none is kept, but, for a moment, of what is looked up by whole keys:
 * to plan such a statement takes longer than to carry it out (see `link.ts`).
 */
const PLANNER = ['enable_seqscan=off', 'enable_hashjoin=off', 'enable_mergejoin=off', 'jit=off'];

function settingsOf(keepsPlans: boolean): string {
  const mode = keepsPlans ? 'force_generic_plan' : 'force_custom_plan';
  return [...PLANNER, `plan_cache_mode=${mode}`].map((setting) => `-c ${setting}`).join(' ');
}

const NO_TLS = /does not support SSL|establishing an SSL connection/;
const TLS_CODE = /^(EPROTO|ERR_(SSL|TLS)_.*)$/;

/** What stands in a message for an error of this code. */
const REASONS: Readonly<Record<string, string>> = {
  '28P01': 'refuses the password',
  '3D000': 'has no such database',
  '53300': 'has no connection left',
  '57P03': 'is starting or stopping',
  ECONNREFUSED: 'refuses connections',
  ENOENT: 'has no socket there',
  ENOTFOUND: 'has no address',
  EAI_AGAIN: 'cannot be looked up',
};

/** Says in its own words why a server will not do. */
class UnsuitableServer extends Error {}

export async function connect(address: DatabaseAddress, options: ConnectOptions): Promise<Client> {
  return connector(address, options)();
}

/** Opens one each time, and begins with the host that did last. */
export function connector(address: DatabaseAddress, options: ConnectOptions): () => Promise<Client> {
  const { hosts } = address;
  let last = 0;
  return async () => {
    const reasons: string[] = [];
    for (let tried = 0; tried < hosts.length; tried += 1) {
      const index = (last + tried) % hosts.length;
      const at = hosts[index];
      const client = at && (await firstFit(address, at, options, reasons));
      if (client === undefined) continue;
      last = index;
      return client;
    }
    throw new StoreUnavailable(`PostgreSQL cannot be used: ${reasons.join('; ')}.`);
  };
}

/** One server of the host that takes writes; if none does, the reasons are added. */
async function firstFit(
  address: DatabaseAddress,
  at: DatabaseHost,
  options: ConnectOptions,
  reasons: string[],
): Promise<Client | undefined> {
  let servers: readonly string[] = [];
  try {
    servers = await serversOf(at, address, options);
  } catch (error) {
    reasons.push(`${describeHost(at)} ${reasonOf(error)}`);
  }
  for (const server of servers) {
    try {
      return await open(address, at, server, options);
    } catch (error) {
      const name = server === at.host ? describeHost(at) : `${describeHost(at)} (${server})`;
      reasons.push(`${name} ${reasonOf(error)}`);
    }
  }
  return undefined;
}

async function serversOf(
  at: DatabaseHost,
  { connectTimeoutMs }: DatabaseAddress,
  { timers, resolve = systemResolve }: ConnectOptions,
): Promise<readonly string[]> {
  if (isSocket(at) || isIP(at.host) !== 0) return [at.host];
  const servers = await within(timers, connectTimeoutMs, resolve(at.host), () => undefined);
  return servers.slice(0, ADDRESSES_MAX);
}

async function systemResolve(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

async function open(
  address: DatabaseAddress,
  at: DatabaseHost,
  server: string,
  options: ConnectOptions,
): Promise<Client> {
  const isPlain = isSocket(at) || address.tlsMode === 'disable';
  if (isPlain) return login(address, at.port, server, false, options);
  const tls = await tlsOptions(address, at);
  try {
    return await login(address, at.port, server, tls, options);
  } catch (error) {
    if (address.tlsMode !== 'prefer' || !isAboutTls(error)) throw error;
    return login(address, at.port, server, false, options);
  }
}

async function tlsOptions(address: DatabaseAddress, { host }: DatabaseHost): Promise<ConnectionOptions> {
  const { tlsMode, rootCertificatePath } = address;
  if (!checksAuthority(address)) return { ...serverName(host), rejectUnauthorized: false };
  return {
    ...serverName(host),
    ...(rootCertificatePath === null ? {} : { ca: await readAuthorities(rootCertificatePath) }),
    ...(tlsMode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

function serverName(host: string): ConnectionOptions {
  return isIP(host) === 0 ? { servername: host } : {};
}

async function readAuthorities(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UnsuitableServer(
      `cannot be verified: the file of sslrootcert cannot be read (${codeOf(error)})`,
    );
  }
}

/** The driver's words are the only sign that a server has no TLS. 28000: it has, but not for this login. */
function isAboutTls(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === '28000';
  return error instanceof Error && (NO_TLS.test(error.message) || TLS_CODE.test(codeOf(error)));
}

async function login(
  address: DatabaseAddress,
  port: number,
  host: string,
  ssl: ConnectionOptions | false,
  { timers, decodeText, cachesPlans: keepsPlans = false, prepare }: ConnectOptions,
): Promise<Client> {
  const client = new Client({
    host,
    port,
    ssl,
    user: address.user,
    database: address.database,
    // Unless it is told, the driver looks for one in the environment and in files.
    password: address.password ?? (() => Promise.reject(new UnsuitableServer('asks for a password'))),
    application_name: address.applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    pipeline: true,
    // What is left in a session behind a pooler may be anybody's.
    ...(address.isPooled ? {} : { options: settingsOf(keepsPlans) }),
  });
  // What happens to the connection fails the queries on it; unheard, it would end the process.
  client.on('error', () => undefined);
  client.setTypeParser(INT8, Number);
  for (const type of TEXT_TYPES) client.setTypeParser(type, decodeText);
  const drop = () => void client.connection.stream.destroy();
  try {
    await within(timers, address.connectTimeoutMs, ready(client, prepare), drop);
    return client;
  } catch (error) {
    drop();
    throw error;
  }
}

async function ready(client: Client, prepare: ConnectOptions['prepare']): Promise<void> {
  await requireWrites(client);
  await prepare?.(client);
}

async function requireWrites(client: Client): Promise<void> {
  await client.connect();
  const { rows } = await client.query<{ is_standby: boolean; is_read_only: boolean }>(TAKES_WRITES);
  const [said] = rows;
  if (said?.is_standby !== false) throw new UnsuitableServer('is a standby');
  if (said.is_read_only) throw new UnsuitableServer('takes no writes');
}

/** Past the time it fails, and `giveUp` ends what was begun. */
async function within<T>(timers: Timers, ms: number, work: Promise<T>, giveUp: () => void): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const callOff = timers.after(ms, () => {
    reject(new UnsuitableServer(`does not answer within ${ms} ms`));
    giveUp();
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    callOff();
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof UnsuitableServer) return error.message;
  const said = REASONS[codeOf(error)];
  return said ?? `fails: ${error instanceof Error ? error.message : String(error)}`;
}
