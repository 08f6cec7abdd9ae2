/**
 * A real PostgreSQL server for tests, with a port and a folder of its own.
 *
 *       await using server = await startPostgres();
 *       await using database = await server.createDatabase();
 *       const client = new pg.Client({ connectionString: database.url });
 *
 * It can be stopped, killed and started again. The data stays until the scope is left. `standby()` adds a second
 * server that follows it. Text sorts in English order and not by bytes, which reveals queries without `COLLATE "C"`.
 * A server never outlives its test: it ends with the scope, and with the test run. PostgreSQL refuses to run as
 * root. It then runs as the user nobody, in a folder of that user.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyCluster, makeFolder, type Owner, writeOwned } from './base-backup.ts';
import { type Binaries, enterable, librarySearchPath, npmBinaries } from './binaries.ts';
import { endWithProcess, killChildren, removeFolder, temporaryFolder } from './cleanup.ts';
import { createDatabase, type TestDatabase } from './databases.ts';

export type Settings = Readonly<Record<string, string | number | boolean>>;

export interface PostgresOptions {
  /** Default: those from npm. */
  readonly binaries?: Binaries;
  /** Settings for `postgresql.conf`. */
  readonly settings?: Settings;
  /** Whether commits are synced to the disk, for tests that simulate a crash. Default: no. */
  readonly durable?: boolean;
  /** Default: a free port. */
  readonly port?: number;
  /** The password of the user `postgres` over TCP. Default: none. */
  readonly password?: string;
  /** Paths of PEM files. Default: no TLS. */
  readonly tls?: { readonly certificate: string; readonly key: string };
}

export interface StandbyOptions {
  /** The name for `synchronous_standby_names`. */
  readonly name?: string;
  /** Settings that differ from those of the primary. */
  readonly settings?: Settings;
  readonly port?: number;
}

export type StopMode = 'fast' | 'immediate';

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** The folder of the unix socket. */
  readonly socketFolder: string;
  readonly majorVersion: number;
  /** The last output since the last start. */
  readonly log: string;
  /** The URL over TCP. Default: the database `postgres`. */
  url(database?: string): string;
  /** Creates an empty database, or a copy of the template. */
  createDatabase(template?: string): Promise<TestDatabase>;
  /** Changes settings that need no restart. */
  configure(settings: Settings): Promise<void>;
  /** `fast` ends the sessions and writes a checkpoint; `immediate` stops at once. */
  stop(mode?: StopMode): Promise<void>;
  start(): Promise<void>;
  /** Sends SIGKILL to all processes of the server at once, as in a crash of the machine. */
  kill(): Promise<void>;
  /** Promotes a standby to primary. */
  promote(): Promise<void>;
  /** Starts a server that follows this one by streaming replication. */
  standby(options?: StandbyOptions): Promise<PostgresServer>;
}

const NOBODY = 65_534;
const ROOT = 0;
const HOST = '127.0.0.1';
const READY = /ready to accept (read[- ]only )?connections/;
const RELOADED = /reloading configuration files/;
const START_MS_MAX = 30_000;
const START_ATTEMPTS_MAX = 3;
const LOG_CHARACTERS_MAX = 64 * 1024;
const SIGNALS: Readonly<Record<StopMode, NodeJS.Signals>> = { fast: 'SIGINT', immediate: 'SIGQUIT' };

const DEFAULTS: Settings = {
  listen_addresses: HOST,
  max_connections: 200,
  shared_buffers: '64MB',
  // Enough for a standby that starts a little behind.
  wal_keep_size: '256MB',
  // The client reports failed statements, so they need not be logged.
  log_min_messages: 'log',
  log_checkpoints: false,
};

/** Without syncing, data is lost only when the machine crashes. */
const NOT_DURABLE: Settings = { fsync: false, full_page_writes: false };

/** Creates a new cluster and starts it, which takes about a second. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const cluster = newCluster(options.binaries ?? npmBinaries(), options);
  if (options.password !== undefined) writeOwned(cluster.passwordFile, options.password, cluster.owner);
  await initialise(cluster);
  return launched(cluster);
}

interface Cluster {
  readonly binaries: Binaries;
  readonly options: PostgresOptions;
  readonly owner: Owner | undefined;
  readonly folder: string;
  readonly data: string;
  readonly passwordFile: string;
  readonly env: NodeJS.ProcessEnv;
}

function newCluster(given: Binaries, options: PostgresOptions): Cluster {
  const folder = temporaryFolder();
  const owner = process.getuid?.() === ROOT ? { uid: NOBODY, gid: NOBODY } : undefined;
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const binaries = owner === undefined ? given : enterable(given, folder);
  const libraries = join(folder, 'libraries');
  makeFolder(libraries, owner);
  const searchPath = librarySearchPath(binaries, libraries);
  const env = {
    PATH: process.env.PATH,
    LC_ALL: 'C',
    LD_LIBRARY_PATH: searchPath,
    DYLD_LIBRARY_PATH: searchPath,
  };
  const passwordFile = join(folder, 'password');
  return { binaries, options, owner, folder, data: join(folder, 'data'), passwordFile, env };
}

async function run({ binaries, folder, owner, env }: Cluster, program: string, args: readonly string[]) {
  const running = promisify(execFile)(join(binaries.folder, program), args, { cwd: folder, env, ...owner });
  endWithProcess(running.child);
  await running;
}

async function initialise(cluster: Cluster): Promise<void> {
  const { data, options, binaries, passwordFile } = cluster;
  const password =
    options.password === undefined
      ? ['--auth=trust']
      : ['--auth-local=trust', '--auth-host=scram-sha-256', `--pwfile=${passwordFile}`];
  // Version 14 cannot use ICU for the order of text.
  const english = binaries.majorVersion < 15 ? [] : ['--locale-provider=icu', '--icu-locale=en-US'];
  const flags = ['--no-sync', '--username=postgres', '--encoding=UTF8', '--locale=C'];
  await run(cluster, 'initdb', [`--pgdata=${data}`, ...flags, ...english, ...password]);
}

async function launched(cluster: Cluster, standbySettings: Settings = {}): Promise<PostgresServer> {
  const tls = copyTls(cluster);
  for (let attempt = 1; ; attempt += 1) {
    const port = cluster.options.port ?? (await freePort());
    const settings = { ...settingsOf(cluster, port), ...tls, ...standbySettings };
    const server = serverOf(cluster, port, settings);
    try {
      await server.start();
      return server;
    } catch (error) {
      // Another process may have taken the port.
      const isTaken = server.log.includes('could not bind');
      if (!isTaken || cluster.options.port !== undefined || attempt === START_ATTEMPTS_MAX) {
        removeFolder(cluster.folder);
        throw error;
      }
    }
  }
}

function settingsOf({ folder, options }: Cluster, port: number): Settings {
  const own = { port, unix_socket_directories: folder };
  return { ...DEFAULTS, ...(options.durable ? {} : NOT_DURABLE), ...options.settings, ...own };
}

/** The server accepts a key only from a file that no other user can read. */
function copyTls({ options, folder, owner }: Cluster): Settings {
  if (options.tls === undefined) return {};
  const [certificate, key] = [join(folder, 'server.pem'), join(folder, 'server.key')];
  writeOwned(certificate, readFileSync(options.tls.certificate, 'utf8'), owner);
  writeOwned(key, readFileSync(options.tls.key, 'utf8'), owner);
  return { ssl: true, ssl_cert_file: certificate, ssl_key_file: key };
}

function serverOf(cluster: Cluster, port: number, initial: Settings): PostgresServer {
  const { binaries, options, owner, folder, data, env } = cluster;
  let settings = initial;
  let log = '';
  let child: ChildProcess | undefined;

  const end = async (signal: NodeJS.Signals) => {
    const ending = child;
    if (ending === undefined) return;
    const closed = once(ending, 'close');
    ending.kill(signal);
    await closed;
  };
  const writeSettings = () => writeOwned(join(data, 'postgresql.conf'), configurationText(settings), owner);

  const server: PostgresServer = {
    port,
    socketFolder: folder,
    majorVersion: binaries.majorVersion,
    get log() {
      return log;
    },
    url: (database = 'postgres') => {
      const password = options.password === undefined ? '' : `:${encodeURIComponent(options.password)}`;
      return `postgres://postgres${password}@${HOST}:${port}/${database}`;
    },
    createDatabase: (template) => createDatabase(server.url(), template),
    configure: async (changes) => {
      settings = { ...settings, ...changes };
      writeSettings();
      if (child === undefined) return;
      log = '';
      const reloaded = waitForOutput(child, RELOADED, () => log);
      child.kill('SIGHUP');
      await reloaded;
    },
    start: async () => {
      if (child !== undefined) throw new Error('This server is already running.');
      writeSettings();
      log = '';
      const started = spawn(join(binaries.folder, 'postgres'), ['-D', data], {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        ...owner,
      });
      child = started;
      endWithProcess(started);
      for (const stream of [started.stdout, started.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          log = (log + text).slice(-LOG_CHARACTERS_MAX);
        });
      }
      started.once('close', () => {
        child = undefined;
      });
      await waitForOutput(started, READY, () => log);
    },
    stop: (mode = 'fast') => end(SIGNALS[mode]),
    kill: async () => {
      const pid = child?.pid;
      if (pid === undefined) return;
      // A stopped process creates no further children.
      process.kill(pid, 'SIGSTOP');
      const childrenGone = killChildren(pid);
      await end('SIGKILL');
      await childrenGone();
    },
    promote: () => run(cluster, 'pg_ctl', ['promote', '--wait', `--pgdata=${data}`]),
    standby: (standbyOptions = {}) => standbyOf(cluster, server, settings, standbyOptions),
    [Symbol.asyncDispose]: async () => {
      await end('SIGQUIT');
      await removeSharedMemory(data);
      removeFolder(folder);
    },
  };
  return server;
}

async function standbyOf(
  leader: Cluster,
  server: PostgresServer,
  inherited: Settings,
  { name = 'standby', settings, port }: StandbyOptions,
): Promise<PostgresServer> {
  const { port: _, ...rest } = leader.options;
  const options = { ...rest, ...(port === undefined ? {} : { port }) };
  const cluster = newCluster(leader.binaries, options);
  const { data, owner } = cluster;
  await copyCluster(server.url(), leader.data, data, owner);
  makeFolder(join(data, 'pg_wal/archive_status'), owner);
  writeOwned(join(data, 'postgresql.auto.conf'), '', owner);
  writeOwned(join(data, 'standby.signal'), '', owner);
  const own = {
    max_connections: inherited.max_connections ?? '',
    primary_conninfo: `host=${server.socketFolder} port=${server.port} user=postgres application_name=${name}`,
    // Otherwise it would wait for a standby of its own as soon as it is promoted.
    synchronous_standby_names: '',
  };
  return launched(cluster, { ...own, ...settings });
}

function configurationText(settings: Settings): string {
  const quoted = (value: string | number | boolean) => `'${String(value).replaceAll("'", "''")}'`;
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${quoted(value)}\n`)
    .join('');
}

async function waitForOutput(child: ChildProcess, form: RegExp, log: () => string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (why: string) => reject(new Error(`PostgreSQL ${why}.\n${log()}`));
  const check = () => {
    if (form.test(log())) resolve();
  };
  const onClose = () => fail(`ended before it wrote ${form}`);
  const timer = setTimeout(() => fail(`did not write ${form} within ${START_MS_MAX} ms`), START_MS_MAX);
  child.stderr?.on('data', check);
  child.once('close', onClose);
  child.once('error', reject);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    child.stderr?.off('data', check);
    child.off('close', onClose);
    child.off('error', reject);
  }
}

/**
 * A killed server that is not started again leaves its shared memory. The machine has a limit of a few thousand
 * segments.
 */
async function removeSharedMemory(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  const id = existsSync(file) ? /^ *\d+ +(\d+) *$/m.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
  if (id !== undefined) await promisify(execFile)('ipcrm', ['-m', id]).catch(() => undefined);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port is free.');
  return address.port;
}
