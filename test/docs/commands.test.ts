/**
 * Runs every command of README and docs as a reader would, page by page (see `session.ts`). TypeScript blocks that use
 * the client are programs, and run in their place on the page.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DEV_TEST_KEY, DEV_URL } from '#src/app/dev/keys.ts';
import { type RunningDev, startDevInThread } from '#test/inbox/dev-in-thread.ts';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { runCommandWith } from '#test/process/run-command.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { type CommandServer, startCommandServer } from './command-server.ts';
import { type Block, PAGES, type Page, pageAt, ROOT } from './pages.ts';
import { readersProject, write } from './project.ts';
import { Session, type SessionOptions } from './session.ts';

/** The commands that CI runs. They are not run here again. */
const CI_COMMAND = 'npm ci && npm test';
/** The page that uses the real npx and the Node of the machine. */
const WITH_REAL_NPX = 'README.md';
/** The page without settings: `sched dev` listens on its default port, which only one page at a time can use. */
const WITH_NOTHING_SET = 'docs/quick-start.md';
const IS_DEV_PORT_FREE = await isFree(Number(new URL(DEV_URL).port));
/** The time limit for one condition. `expect.poll` does not work in concurrent tests. */
const DELIVERY = { timeout: 20_000, interval: 50 } as const;
/** A page takes seconds, but all pages run at once on a shared machine. */
const PAGE = { timeout: 120_000 } as const;
/** Programs that a machine may lack. Blocks that need a missing one are skipped, and the test name says so. */
const PROGRAMS = ['curl', 'openssl', 'sqlite3'];
const MISSING = PROGRAMS.filter((name) => spawnSync(name, ['--version']).error !== undefined);
/** Blocks that cannot run here, by their first words, with the reason. */
const NOT_RUN: Readonly<Record<string, readonly string[]>> = {
  // The packaging examples need a container engine, a cluster, or root.
  'docs/deploying.md': [
    'docker build',
    'openssl rand',
    'mkdir -m 700',
    'docker compose',
    'sudo npm install',
    'sched() {',
    'kubectl apply',
  ],
  // `test/packaging` packs and installs.
  'docs/installing.md': ['npm ci && npm pack'],
  // These need published packages.
  'sdk/README.md': ['npm install @sched/sdk'],
  'docs/releasing.md': ['cd "$(mktemp -d)"'],
  // These need the data of a running service. `sched user` runs in the tests of docs/cli.md.
  'docs/dashboard.md': ['npx sched user create'],
  // These need a Citus cluster, PostgreSQL tools of the server's version, or an endpoint profile. The secrets of
  // endpoint profiles are tested in test/process/cli.test.ts.
  'docs/operations.md': ['npx sched migrate --distribute', 'pg_dump', 'npx sched secret create'],
};

let commands: CommandServer;
/** The service that a page uses until it starts its own. */
let dev: RunningDev;
const databases: TestDatabase[] = [];

async function newDatabase(): Promise<string> {
  const database = await createDatabase(await sharedPostgres());
  databases.push(database);
  return database.url;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

function hasNothingSet({ path }: Page): boolean {
  return path === WITH_NOTHING_SET && IS_DEV_PORT_FREE;
}

function openSession(url: string, options: Partial<SessionOptions> = {}): Session {
  const known = new Map<string, Promise<string>>();
  const databaseUrl = (section: string) => {
    const made = known.get(section) ?? newDatabase();
    known.set(section, made);
    return made;
  };
  return new Session({ url, npx: commands.npxScript, settings: 'ours', databaseUrl, ...options });
}

beforeAll(async () => {
  commands = await startCommandServer();
  dev = await startDevInThread();
});

afterAll(async () => {
  await dev?.[Symbol.asyncDispose]();
  await commands?.[Symbol.asyncDispose]();
  for (const database of databases) await database.drop();
});

function isProgram({ language, text }: Block): boolean {
  return language === 'ts' && /new Sched\(/.test(text);
}

function isRun(block: Block): boolean {
  return isProgram(block) || (block.language === 'sh' && block.mark === '' && block.text !== CI_COMMAND);
}

function missingIn({ text }: Block): readonly string[] {
  return MISSING.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
}

/** The heading above a block. */
function sectionOf({ text }: Page, { line }: Block): string {
  const above = text.split('\n').slice(0, line);
  return above.findLast((one) => one.startsWith('## ')) ?? '';
}

async function follow(page: Page, session: Session): Promise<void> {
  const project = readersProject();
  for (const block of page.blocks.filter((one) => isRun(one) && missingIn(one).length === 0)) {
    const file = join(project, `line-${block.line}.ts`);
    if (isProgram(block)) write(file, block.text.replaceAll('http://127.0.0.1:8080', session.url));
    const text = isProgram(block) ? `'${process.execPath}' '${file}'` : block.text;
    await session.run(text, sectionOf(page, block)).catch((error: unknown) => {
      throw new Error(`${block.place}\n${block.text}\n\n${error instanceof Error ? error.message : ''}`);
    });
  }
}

interface Listed {
  readonly data: readonly {
    readonly id: string;
    readonly status: string;
    readonly replay_of: string | null;
  }[];
}

async function api<T>(url: string, path: string, body?: unknown): Promise<T> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${DEV_TEST_KEY}` };
  const answer = await fetch(`${url}/v1/${path}`, { ...init, headers });
  return (await answer.json()) as T;
}

async function deliveries(url: string, query = ''): Promise<Listed['data']> {
  return (await api<Listed>(url, `deliveries?limit=100&${query}`)).data;
}

/** The longest pages start first, so that none runs alone at the end. */
function byWork(a: Page, b: Page): number {
  const work = ({ blocks }: Page) => blocks.filter(isRun).flatMap(({ text }) => text.split('\n')).length;
  return work(b) - work(a);
}

function nameOf(page: Page): string {
  const left = page.blocks.filter((block) => isRun(block) && missingIn(block).length > 0);
  const but = left.map((block) => `${block.line} (no ${missingIn(block).join(', ')})`).join(', ');
  const taken = page.path === WITH_NOTHING_SET && !IS_DEV_PORT_FREE ? `, but not at ${DEV_URL}: taken` : '';
  return `${page.path}${but === '' ? '' : `, but for line ${but}`}${taken}`;
}

describe('a reader can run', () => {
  for (const page of PAGES.filter(({ blocks }) => blocks.some(isRun)).toSorted(byWork)) {
    test.concurrent(nameOf(page), PAGE, async () => {
      await using session = openSession(dev.url, {
        ...(page.path === WITH_REAL_NPX ? { npx: null } : {}),
        settings: hasNothingSet(page) ? 'none' : 'ours',
      });
      const afterwards = await AROUND[page.path]?.(session, page);
      await follow(page, session);
      await afterwards?.();
    });
  }
});

type Around = (session: Session, page: Page) => Promise<() => Promise<void>>;

/** Prepares what a page relies on, and afterwards checks the result of following it. */
const AROUND: Readonly<Record<string, Around>> = {
  'README.md': endsWithDelivery,
  'docs/quick-start.md': endsWithDelivery,
  // The page needs a stopped service with data in SQLite.
  'docs/operations.md': async (session) => {
    const env = { SCHED_DATA_DIR: join(session.folder, 'data'), SCHED_PORT: '0' };
    expect(await runCommandWith(env, ['serve'])).toMatchObject({ code: 0 });
    return async () => undefined;
  },
  // The page needs a dead letter to replay.
  'docs/recipes.md': async ({ url }) => {
    const headers = { Connection: 'not for you to say' };
    const body = { endpoint: `${url}/inbox/hook`, delay: '1s', headers };
    const schedule = await api<{ readonly id: string }>(url, 'schedules', body);
    const ofIt = () => deliveries(url, `schedule_id=${schedule.id}`);
    await vi.waitFor(async () => expect((await ofIt())[0]?.status).toBe('dead_letter'), DELIVERY);
    return async () => {
      const [again, dead] = await ofIt();
      expect(again?.replay_of).toBe(dead?.id ?? expect.fail());
    };
  },
};

async function endsWithDelivery(session: Session, page: Page): Promise<() => Promise<void>> {
  return async () => {
    if (page.blocks.some((block) => isRun(block) && missingIn(block).length > 0)) return;
    expect(session.url).not.toBe(dev.url);
    if (hasNothingSet(page)) expect(session.url).toBe(DEV_URL);
    const arrived = await vi.waitFor(async () => {
      const all = await deliveries(session.url);
      return all.find(({ status }) => status === 'succeeded') ?? expect.fail();
    }, DELIVERY);
    // Commands must call the service of the page, not the one from before.
    await session.run(`npx sched deliveries show ${arrived.id}`, '');
  };
}

describe('the pages', () => {
  test('mark a block as not-run only if it is a known exception', () => {
    const marked = PAGES.flatMap(({ path, blocks }) => blocks.map((block) => ({ path, ...block }))).filter(
      ({ mark }) => mark !== '',
    );
    for (const { path, place, language, mark, text } of marked) {
      expect(`${language} ${mark}`, place).toBe('sh not-run');
      expect(NOT_RUN[path]?.some((start) => text.startsWith(start)) ? '' : text, place).toBe('');
    }
    expect(marked).toHaveLength(Object.values(NOT_RUN).flat().length);
  });

  test('name the command that CI runs', () => {
    const run = readFileSync(join(ROOT, '.ci/run'), 'utf8').trimEnd().split('\n').at(-1);
    expect(run).toBe(CI_COMMAND);
    expect(pageAt('CONTRIBUTING.md').blocks.map(({ text }) => text)).toContain(CI_COMMAND);
    expect(pageAt('README.md').prose).toContain(`\`${CI_COMMAND}\``);
  });

  test('name the packed files and the executable with their version', () => {
    const version = (path: string) =>
      (JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as { readonly version: string }).version;
    const [own, sdk] = [version('package.json'), version('sdk/package.json')];
    expect(sdk).toBe(own);
    const named = PAGES.flatMap(({ text }) => [
      ...text.matchAll(/\bsched-(?:sdk-)?(\d+\.\d+\.\d+)(?:\.tgz|-linux-)/g),
    ]);
    expect(new Set(named.map(([, one]) => one))).toEqual(new Set([own]));
  });

  test('name only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const named = PAGES.flatMap(({ prose }) => [
      ...prose.matchAll(/`npm (?:run (?:-s |--silent )?)?([a-z:]+)/g),
    ]);
    const unknown = named.map(([, script = '']) => script).filter((name) => !(name in scripts));
    expect(
      unknown.filter(
        (name) =>
          !['audit', 'ci', 'deprecate', 'install', 'link', 'pack', 'publish', 'run', 'view'].includes(name),
      ),
    ).toEqual([]);
    expect(named.length).toBeGreaterThan(8);
  });
});

test('a failing command is reported with its page and output', async () => {
  await using session = openSession(dev.url);
  const place = 'docs/none.md:1';
  const page = { path: 'docs/none.md', text: '', prose: '', blocks: [sh('echo before\nls /no/such/folder')] };
  await expect(follow(page, session)).rejects.toThrow(/docs\/none\.md:1.*before.*no such file/is);

  await using other = openSession(dev.url);
  const refused = { ...page, blocks: [sh('curl http://127.0.0.1:8080/v1/schedules\necho "not reached"')] };
  await expect(follow(refused, other)).rejects.toThrow(/missing_api_key/);

  // The second command of a kind runs in the thread of the tests.
  await using third = openSession(dev.url);
  const wrong = { ...page, blocks: [sh('npx sched preview "0 9 * * *"\nnpx sched preview "no cron"')] };
  await expect(follow(wrong, third)).rejects.toThrow(/exit code 2.*09:00.*sched: .*cron/s);

  function sh(text: string): Block {
    return { place, line: 1, language: 'sh', mark: '', text };
  }
});

test('variables and folders carry over between blocks', async () => {
  await using session = openSession(dev.url);
  const marker = join(temporaryDirectory(), 'marker');
  await session.run(`greeting=hello\nmkdir inner\ncd inner`, '');
  await session.run(`printf '%s %s' "$greeting" "$(basename "$PWD")" > '${marker}'`, '');
  expect(readFileSync(marker, 'utf8')).toBe('hello inner');
});
