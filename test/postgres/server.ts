/**
 * A real PostgreSQL for tests, on a port and in a folder of its own.
 *
 *     await using server = await startPostgres();
 *     await using database = await server.createDatabase();
 *     const client = new pg.Client({ connectionString: database.url });
 *
 * It may be stopped, killed and started again; the data stays until the scope is left. `standby()` makes a
 * second one that follows it. Text sorts as English does, not by its bytes, so that a query which forgets to
 * say `COLLATE "C"` shows. A server never outlives its test: leaving the scope ends it, and so does the end
 * of the test run. PostgreSQL refuses to run as root: then it runs as nobody, in a folder that is nobody's.
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
  /** Default: the ones of npm. */
  readonly binaries?: Binaries;
  /** For `postgresql.conf`. */
  readonly settings?: Settings;
  /** Whether commits reach the disk: for tests that crash a machine. Default: they do not. */
  readonly durable?: boolean;
  /** Default: one that is free. */
  readonly port?: number;
  /** What the user `postgres` is asked for over TCP. Default: nothing. */
  readonly password?: string;
  /** Files in PEM. Default: no TLS. */
  readonly tls?: { readonly certificate: string; readonly key: string };
}

export interface StandbyOptions {
  /** By which `synchronous_standby_names` knows it. */
  readonly name?: string;
  /** Over those of the server it follows. */
  readonly settings?: Settings;
  readonly port?: number;
}

export type StopMode = 'fast' | 'immediate';

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** The folder of its unix socket. */
  readonly socketFolder: string;
  readonly majorVersion: number;
  /** The end of what it wrote since it was started last. */
  readonly log: string;
  /** Over TCP. Default: the database that is always there. */
  url(database?: string): string;
  /** A fresh one; given a template, a copy of that. */
  createDatabase(template?: string): Promise<TestDatabase>;
  /** Changes settings that need no restart. */
  configure(settings: Settings): Promise<void>;
  /** Ends the sessions and writes a checkpoint, or leaves all as it is. */
  stop(mode?: StopMode): Promise<void>;
  start(): Promise<void>;
  /** SIGKILL for all of its processes at once, as a crash of the machine. */
  kill(): Promise<void>;
  /** Makes a standby a primary. */
  promote(): Promise<void>;
  /** Another server that follows this one as it streams its log. */
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
  // Enough for a standby that begins a little behind.
  wal_keep_size: '256MB',
  // Statements that fail are the client's to tell; these lines would only be piped through.
  log_min_messages: 'log',
  log_checkpoints: false,
};

/** Without the disk nothing is lost but with the machine. */
const NOT_DURABLE: Settings = { fsync: false, full_page_writes: false };

/** Makes a new cluster and starts it: about a second. */
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
  // Version 14 cannot take its order of text from ICU.
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
      // Somebody else may have taken the port meanwhile.
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

/** The server takes a key only from a file that nobody else may read. */
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
      const reloaded = said(child, RELOADED, () => log);
      child.kill('SIGHUP');
      await reloaded;
    },
    start: async () => {
      if (child !== undefined) throw new Error('This server runs already.');
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
      await said(started, READY, () => log);
    },
    stop: (mode = 'fast') => end(SIGNALS[mode]),
    kill: async () => {
      const pid = child?.pid;
      if (pid === undefined) return;
      // A stopped one makes no further children.
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
    // Else it would wait for a standby of its own as soon as it is promoted.
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

async function said(child: ChildProcess, form: RegExp, log: () => string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (why: string) => reject(new Error(`PostgreSQL ${why}.\n${log()}`));
  const look = () => {
    if (form.test(log())) resolve();
  };
  const onClose = () => fail(`ended before it said ${form}`);
  const timer = setTimeout(() => fail(`did not say ${form} within ${START_MS_MAX} ms`), START_MS_MAX);
  child.stderr?.on('data', look);
  child.once('close', onClose);
  child.once('error', reject);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    child.stderr?.off('data', look);
    child.off('close', onClose);
    child.off('error', reject);
  }
}

/** What is left of a killed one that is not started again; the machine has room for a few thousand of them. */
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
