/** Services whose disk is nearly full and can be given space again. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { buildServer } from '#src/api/server.ts';
import { bootstrap } from '#src/control/bootstrap.ts';
import { IdMint } from '#src/domain/id.ts';
import type { Log } from '#src/ports/telemetry.ts';
import { DATABASE_FILE, openSqlite } from '#src/store/sqlite/open-sqlite.ts';
import { systemClock } from '#src/system/clock.ts';
import { prometheusMetrics } from '#src/system/metrics.ts';
import { systemRandom } from '#src/system/random.ts';
import { systemTimers } from '#src/system/timers.ts';
import { AesVault } from '#src/vault/aes-vault.ts';
import { LIVE_KEY, startService, TEST_KEY } from '#test/fuzz/service.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';

const BALLAST_BYTES = 1024 * 1024;
const PAGES_LEFT = 400;
const MOUNT_SIZE = '4m';

export interface FullDisk extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  readonly log: () => string;
  /** Deletes the ballast. */
  freeSpace(): void;
  stop(): Promise<void>;
}

/** A service whose database file may have only a limited number of pages. */
export async function withPageLimit(): Promise<FullDisk> {
  const dataDir = temporaryDirectory();
  const now = systemClock.now();
  await (await openSqlite({ directory: dataDir, now, exclusive: true })).close();
  const pages = loadBallast(dataDir);

  const store = await openSqlite({
    directory: dataDir,
    now,
    exclusive: true,
    maxPages: pages + PAGES_LEFT,
  });
  const random = systemRandom();
  const ids = new IdMint((count) => random.bytes(count));
  const vault = new AesVault(random, random.bytes(32));
  await bootstrap(
    { store, vault, random, ids, clock: systemClock },
    { keys: { test: TEST_KEY, live: LIVE_KEY }, signingSecret: null },
  );
  const lines: string[] = [];
  const note =
    (level: string): Log['error'] =>
    (fields, message) => {
      lines.push(JSON.stringify({ level, ...fields, message }));
    };
  const log: Log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  const server = buildServer({
    store,
    vault,
    random,
    log,
    clock: systemClock,
    timers: systemTimers,
    metrics: prometheusMetrics(),
    hints: { due: () => {}, rescan: () => {} },
    isFiring: () => true,
    servesApi: true,
    httpAllowed: false,
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  let isRunning = true;
  const stop = async () => {
    if (!isRunning) return;
    isRunning = false;
    await server.close();
    await store.close();
  };
  return {
    url,
    dataDir,
    log: () => lines.join('\n'),
    freeSpace: () => inDatabase(dataDir, (db) => db.exec('DELETE FROM ballast')),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Writes rows that are deleted later. Returns the size of the file in pages. */
function loadBallast(dataDir: string): number {
  return inDatabase(dataDir, (db) => {
    db.exec('CREATE TABLE ballast (bytes BLOB)');
    db.prepare('INSERT INTO ballast VALUES (zeroblob(?))').run(BALLAST_BYTES);
    return Number(db.pragma('page_count', { simple: true }));
  });
}

function inDatabase<T>(dataDir: string, run: (db: Database.Database) => T): T {
  const db = new Database(join(dataDir, DATABASE_FILE));
  try {
    return run(db);
  } finally {
    db.close();
  }
}

/** Whether a file system can be mounted here. It needs privileges, and not every system supports it. */
export function canMount(): boolean {
  const directory = temporaryDirectory();
  try {
    mount(directory);
    unmount(directory);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function mount(directory: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${MOUNT_SIZE}`, 'tmpfs', directory], { stdio: 'ignore' });
}

function unmount(directory: string): void {
  execFileSync('umount', [directory], { stdio: 'ignore' });
}

/** The real service on a real file system of a few megabytes. */
export async function onSmallFileSystem(): Promise<FullDisk> {
  const dataDir = temporaryDirectory();
  mount(dataDir);
  const ballast = join(dataDir, 'ballast');
  writeFileSync(ballast, Buffer.alloc(BALLAST_BYTES));
  const sched = await startService(dataDir).catch((error: unknown) => {
    unmount(dataDir);
    throw error;
  });
  return {
    url: sched.url,
    dataDir,
    log: () => sched.output.stderr,
    freeSpace: () => rmSync(ballast),
    stop: async () => {
      const { code } = await sched.stop();
      if (code !== 0) throw new Error(`The service ended with exit code ${code}.`);
    },
    async [Symbol.asyncDispose]() {
      await sched[Symbol.asyncDispose]();
      unmount(dataDir);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
