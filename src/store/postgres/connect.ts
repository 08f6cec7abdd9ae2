/**
 * Opens a connection to a server that accepts writes.
 *
 * The hosts of the address are tried in order, and of a name with several addresses each one. After a failover the
 * old primary may be back as a standby; the check finds this and goes on. Each server has a limited time for
 * connecting, login and the check. If none is suitable, one error lists the reason of each.
 */
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Client } from 'pg';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Timers } from '#src/ports/system.ts';
import {
  checksAuthority,
  type DatabaseAddress,
  type DatabaseHost,
  describeHost,
  isSocket,
} from './address.ts';
import { codeOf, isAboutTls, wordsOf } from './errors.ts';
import { decodeText } from './parameter-encoding.ts';

/** The part of a connection that migrations use. */
export interface Queryable {
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly object[] }>;
}

export interface ConnectOptions {
  readonly timers: Timers;
  /** Whether the server plans a prepared statement only once. Default: each time. */
  readonly cachesPlans?: boolean;
  /** Further settings of each session, such as `name=value`. */
  readonly settings?: readonly string[];
  /** Prepares each new connection, within the same time limit. */
  readonly prepare?: (client: Client) => Promise<void>;
  /** Looks up the addresses of a name. Default: the resolver of the system. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

const KEEP_ALIVE_DELAY_MS = 10_000;
const ADDRESSES_MAX = 16;

const INT8 = 20;
const TEXT_TYPES = [25, 1_043];

const ACCEPTS_WRITES = `SELECT pg_is_in_recovery() AS is_standby,
  current_setting('transaction_read_only') = 'on' AS is_read_only`;

/**
 * All statements use an index, and join row by row. The planner would not choose this for a table that was never
 * analysed, as in a new database.
 *
 * A plan that was made for a small table is bad once the table has grown. Plans are therefore not kept, except for
 * look-ups by whole keys, and then only for a moment. Planning such a look-up takes longer than running it (see
 * `reconnecting-client.ts`).
 */
const PLANNER = ['enable_seqscan=off', 'enable_hashjoin=off', 'enable_mergejoin=off', 'jit=off'];

function settingsOf(cachesPlans: boolean, others: readonly string[]): string {
  const mode = cachesPlans ? 'force_generic_plan' : 'force_custom_plan';
  return [...PLANNER, `plan_cache_mode=${mode}`, ...others].map((setting) => `-c ${setting}`).join(' ');
}

/** Its message tells why a server cannot be used. */
class UnsuitableServer extends Error {}

export async function connect(address: DatabaseAddress, options: ConnectOptions): Promise<Client> {
  return connector(address, options)();
}

/** Each call opens a connection. It begins with the host that worked last. */
export function connector(address: DatabaseAddress, options: ConnectOptions): () => Promise<Client> {
  let hosts = address.hosts;
  return async () => {
    const tried = hosts;
    const reasons: string[] = [];
    for (const [index, at] of tried.entries()) {
      const client = await firstSuitable(address, at, options, reasons);
      if (client === undefined) continue;
      hosts = [...tried.slice(index), ...tried.slice(0, index)];
      return client;
    }
    throw new StoreUnavailable(`PostgreSQL cannot be used: ${reasons.join('; ')}.`);
  };
}

/** Returns the first server of the host that accepts writes. If none does, it adds the reasons. */
async function firstSuitable(
  address: DatabaseAddress,
  at: DatabaseHost,
  options: ConnectOptions,
  reasons: string[],
): Promise<Client | undefined> {
  const host = describeHost(at);
  try {
    for (const server of await serversOf(at, address, options)) {
      const name = server === at.host ? host : `${host} (${server})`;
      try {
        return await open(address, at, server, options);
      } catch (error) {
        reasons.push(`${name} ${reasonOf(error)}`);
      }
    }
  } catch (error) {
    reasons.push(`${host} ${reasonOf(error)}`);
  }
  return undefined;
}

async function serversOf(
  at: DatabaseHost,
  { connectTimeoutMs }: DatabaseAddress,
  { timers, resolve = systemResolve }: ConnectOptions,
): Promise<readonly string[]> {
  if (isSocket(at) || isIP(at.host) !== 0) return [at.host];
  return (await within(timers, connectTimeoutMs, resolve(at.host))).slice(0, ADDRESSES_MAX);
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
  const name = isIP(host) === 0 ? { servername: host } : {};
  if (!checksAuthority(address)) return { ...name, rejectUnauthorized: false };
  return {
    ...name,
    ...(rootCertificatePath === null ? {} : { ca: await readAuthorities(rootCertificatePath) }),
    ...(tlsMode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

async function readAuthorities(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new UnsuitableServer(
      `cannot be verified: the file of sslrootcert cannot be read (${codeOf(error)})`,
    );
  });
}

async function login(
  address: DatabaseAddress,
  port: number,
  host: string,
  ssl: ConnectionOptions | false,
  { timers, cachesPlans = false, settings = [], prepare }: ConnectOptions,
): Promise<Client> {
  const client = new Client({
    host,
    port,
    ssl,
    user: address.user,
    database: address.database,
    // Without this the driver looks for a password in the environment and in files.
    password: address.password ?? (() => Promise.reject(new UnsuitableServer('asks for a password'))),
    application_name: address.applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    pipeline: true,
    // Behind a pooler other clients share the session, so no settings may be left in it.
    ...(address.isPooled ? {} : { options: settingsOf(cachesPlans, settings) }),
  });
  // A connection error fails the queries on it. Without a listener it would end the process.
  client.on('error', () => undefined);
  client.setTypeParser(INT8, Number);
  for (const type of TEXT_TYPES) client.setTypeParser(type, decodeText);
  const ready = async () => {
    await client.connect();
    await requireWrites(client);
    await prepare?.(client);
  };
  try {
    await within(timers, address.connectTimeoutMs, ready());
    return client;
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
}

async function requireWrites(client: Client): Promise<void> {
  const { rows } = await client.query<{ is_standby: boolean; is_read_only: boolean }>(ACCEPTS_WRITES);
  const [reported] = rows;
  if (reported?.is_standby !== false) throw new UnsuitableServer('is a standby');
  if (reported.is_read_only) throw new UnsuitableServer('takes no writes');
}

/** Fails after the time limit. The work itself goes on. */
export async function within<T>(timers: Timers, ms: number, work: Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const cancel = timers.after(ms, () => reject(new UnsuitableServer(`does not answer within ${ms} ms`)));
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    cancel();
  }
}

function reasonOf(error: unknown): string {
  return error instanceof UnsuitableServer ? error.message : wordsOf(error);
}
