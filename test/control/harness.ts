/**
 * The service in this process, over real HTTP on a real store, with a clock that tests move. There are an admin, an
 * operator and a viewer of every project, each signed in, and the projects `default` and `shop`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect } from 'vitest';
import { buildServer } from '#src/api/server.ts';
import { type DashboardDependencies, mountDashboard } from '#src/app/dashboard.ts';
import { createProject } from '#src/control/bootstrap.ts';
import type { About } from '#src/control/http/contract.ts';
import type { Route } from '#src/control/http/route.ts';
import { invite } from '#src/control/invitations.ts';
import { Passwords } from '#src/control/passwords.ts';
import { COMMAND_LINE } from '#src/control/user-rules.ts';
import { IdMint } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { ROLES, type Role } from '#src/domain/role.ts';
import type { Vault } from '#src/ports/vault.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { DATABASE_FILE, openSqlite } from '#src/store/sqlite/open-sqlite.ts';
import { prometheusMetrics } from '#src/system/metrics.ts';
import { systemRandom } from '#src/system/random.ts';
import { systemTimers } from '#src/system/timers.ts';
import { AesVault } from '#src/vault/aes-vault.ts';
import { CHEAP, logTo } from '#test/process/control-harness.ts';
import { Browser } from './browser.ts';

export const START = instant(Date.UTC(2026, 10, 15, 8));
export const ABOUT: About = { version: '0.0.0', store: 'sqlite', retention: null, node: 'test' };
export const PASSWORD = 'seven wet umbrellas';
const PREFIX = '/dashboard';
/** A route for all methods has more methods than this. */
const MANY_METHODS = 3;
export const PAGE = '<!doctype html><title>Sched</title>';

export interface TestDashboard extends Readonly<Record<Role, Browser>> {
  readonly url: string;
  readonly routes: readonly Route[];
  /** The routes below `/dashboard`. */
  readonly served: readonly string[];
  readonly store: SqlStore;
  readonly vault: Vault;
  /** Opens a browser without a session. */
  readonly browse: () => Browser;
  /** Adds a user and signs them in. `projects` are names. The default is every project. */
  readonly invite: (name: string, role: Role, projects?: readonly string[]) => Promise<Browser>;
  readonly advance: (ms: number) => void;
  /** Resolves when every pending write has ended, including those that no request waits for. */
  readonly written: () => Promise<void>;
  /** All that is stored, without the records of who did or tried something and when. */
  readonly stored: () => string;
  /** The log so far. */
  readonly log: () => string;
}

/** Settings that a test may change. */
export type DashboardSettings = Partial<Pick<DashboardDependencies, 'trustedProxies' | 'publicOrigins'>>;

/** Call it at the top of a test file. */
export function useDashboard(settings: DashboardSettings = {}): () => TestDashboard {
  let running: Awaited<ReturnType<typeof openDashboard>> | null = null;
  beforeAll(async () => {
    running = await openDashboard(settings);
  });
  afterAll(() => running?.close());
  return () => {
    if (running === null) throw new Error('The service is not running.');
    return running;
  };
}

async function openDashboard(
  settings: DashboardSettings,
): Promise<TestDashboard & { close(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'sched-dashboard-'));
  const store = await openSqlite({ directory, now: START, exclusive: true });
  const random = systemRandom();
  let now = START;
  const lines: string[] = [];
  const harness = {
    store,
    random,
    clock: { now: () => now },
    ids: new IdMint((count) => random.bytes(count)),
    vault: new AesVault(random, random.bytes(32)),
    log: logTo(lines),
    timers: systemTimers,
    passwords: new Passwords(random, CHEAP),
  };
  for (const name of ['default', 'shop']) await createProject(harness, name);
  const stored = new DatabaseSync(join(directory, DATABASE_FILE), { readOnly: true });

  const routes: Route[] = [];
  const served: string[] = [];
  const server = buildServer({
    ...harness,
    metrics: prometheusMetrics(),
    hints: { due: () => {}, rescan: () => {} },
    isFiring: () => true,
    servesApi: true,
    httpAllowed: false,
    extend: (server, shared) => {
      server.addHook('onRoute', ({ method, url }) => {
        const methods = [method].flat();
        const name = methods.length > MANY_METHODS ? ['ALL'] : methods;
        if (url.startsWith(PREFIX)) served.push(...name.map((each) => `${each} ${url.slice(PREFIX.length)}`));
      });
      routes.push(
        ...mountDashboard(server, shared, {
          ...harness,
          trustedProxies: [],
          publicOrigins: null,
          ...settings,
          about: ABOUT,
          localSignIn: null,
          httpAllowed: false,
          isCluster: false,
          dashboard: 'https://sched.example/dashboard',
          wakeReplays: () => {},
          wakeAlerts: () => {},
          pageFolder: builtPage(directory),
        }),
      );
    },
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });

  const invited = async (name: string, role: Role, projects: readonly string[] | null = null) => {
    const { token } = await invite(harness, { role, projects, by: COMMAND_LINE });
    const browser = new Browser(url, settings.publicOrigins?.[0]);
    expect((await browser.accept(token, name, PASSWORD)).status).toBe(200);
    return browser;
  };
  const [viewer, operator, admin] = await Promise.all(ROLES.map((role) => invited(role, role)));
  if (viewer === undefined || operator === undefined || admin === undefined)
    throw new Error('The users were not created.');
  return {
    url,
    routes,
    served,
    store,
    vault: harness.vault,
    viewer,
    operator,
    admin,
    browse: () => new Browser(url, settings.publicOrigins?.[0]),
    invite: invited,
    advance: (ms) => {
      now = instant(now + ms);
    },
    written: () => store.check(now),
    stored: () => everyRow(stored),
    log: () => lines.join('\n'),
    async close() {
      await server.close();
      stored.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Refused requests are recorded here, and every request may change when a session was last used. */
const RECORDS: ReadonlySet<unknown> = new Set(['audit', 'failure_counts', 'heartbeat', 'disk_probe']);
const LAST_USE = 'seen_at';

function everyRow(db: DatabaseSync): string {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const rows = tables
    .filter(({ name }) => !RECORDS.has(name))
    .map(({ name }) => [name, db.prepare(`SELECT * FROM "${String(name)}"`).all()]);
  return JSON.stringify(rows, (name, value: unknown) => (name === LAST_USE ? null : value));
}

function builtPage(directory: string): string {
  const folder = join(directory, 'page');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'index.html'), PAGE);
  return folder;
}
