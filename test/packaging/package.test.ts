/**
 * The package as a user gets it: packed, installed into an empty folder, and run there. The runtime is left out, since
 * it is more than 100 MB: the tests' own Node is the same one. The image and the systemd unit run these files too.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '#test/control/browser.ts';
import { linksOf, pageOf } from '#test/docs/pages.ts';
import { startDev } from '#test/inbox/dev-process.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { commandOf } from './dockerfile.ts';
import { ROOT } from './files.ts';

const run = promisify(execFile);

const KEY = 'sk_test_of_the_package_test';
/** The timeout of the health check in the Dockerfile. */
const CHECK_MS_MAX = 3_000;
/** The limit of the packed file. A copy of the runtime or of a native package would exceed it. */
const TARBALL_BYTES_MAX = 3_500_000;
/** The limit of the code that every command loads. A command, the server or the store would exceed it. */
const ALWAYS_LOADED_BYTES_MAX = 40_000;
/** The user of the image. A test that runs as root must change to it, because root ignores permissions. */
const USER = { uid: 1000, gid: 1000 } as const;

/** Everything that may be in the package. */
const ALLOWED = [
  /^(LICENSE|package\.json|(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|sdk\/(README\.md|vectors\.json))$/,
  /^(Dockerfile|compose(\.sqlite)?\.yaml)$/,
  /^bin\/(sched\.js|load\.cjs)$/,
  /^dist\/([\w-]+\.cjs|licenses\.txt)$/,
  /^dist\/compiled\/v24[\w.-]+\/[\w-]+\.cjs$/,
  /^dashboard\/dist\/(dashboard|inbox)\/(index\.html|licenses\.md|assets\/[\w-]+\.(js|css|svg))$/,
  /^dashboard\/dist\/docs\/page\.(js|css)$/,
  /^src\/store\/(sqlite|postgres)\/schema(-\d+)?\.sql$/,
  /^docs\/.+\.(md|svg|png|json)$/,
  /^deploy\/(kubernetes\/[\w-]+\.yaml(\.example)?|systemd\/sched\.service)$/,
];

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

const home = temporaryDirectory();
const project = join(home, 'project');
const installed = join(project, 'node_modules/sched');
const program = join(installed, 'bin/sched.js');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
};
let packed: Packed = { filename: '', size: 0, files: [] };

beforeAll(async () => {
  mkdirSync(project);
  // `npm pack` does this by itself, in several processes more. The dashboard is built before the tests.
  await run(process.execPath, ['scripts/build-package.ts'], { cwd: ROOT });
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', home];
  const { stdout } = await run('npm', pack, { cwd: ROOT });
  [packed] = JSON.parse(stdout) as [Packed];
  const options = ['--omit=optional', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, join(home, packed.filename)], { cwd: project });
  chmodSync(home, 0o755);
});

describe('the files', () => {
  test('are the program, its pages and its docs, without sources and tests', () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => !ALLOWED.some((form) => form.test(path)))).toEqual([]);
    for (const form of ALLOWED) expect(paths.some((path) => form.test(path))).toBe(true);
    expect(packed.size).toBeLessThan(TARBALL_BYTES_MAX);
  });

  test('have everything that the program and the pages refer to', () => {
    const built = join(installed, 'dashboard/dist');
    for (const page of ['dashboard', 'inbox']) {
      const index = readFileSync(join(built, page, 'index.html'), 'utf8');
      const assets = [...index.matchAll(/"\/(\w+\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
      expect(assets.length).toBeGreaterThan(1);
      expect(assets.filter((path) => !existsSync(join(built, path)))).toEqual([]);
    }
    const own = codeFiles().flatMap((file) =>
      [...codeOf(file).matchAll(/new URL\("([^"]+)", require\("url"\)/g)].map(([, path = '']) => path),
    );
    expect(own.length).toBeGreaterThan(3);
    expect(own.filter((path) => !existsSync(join(installed, 'dist', path)))).toEqual([]);
  });

  test('have every file that a page links to', () => {
    const pages = packed.files.map(({ path }) => path).filter((path) => path.endsWith('.md'));
    const links = pages.flatMap((path) =>
      linksOf(pageOf(path, readFileSync(join(installed, path), 'utf8')))
        .filter((link) => !/^(#|https?:|mailto:)/.test(link))
        .map((link) => [path, link.replace(/#.*$/, '')] as const),
    );
    expect(new Set(links.map(([path]) => path)).size).toBeGreaterThan(20);
    const broken = links.filter(([path, link]) => !existsSync(join(installed, dirname(path), link)));
    expect(broken).toEqual([]);
  });

  test('import nothing but Node, each other and better-sqlite3', () => {
    const imported = codeFiles().flatMap((file) => [...importsOf(file).values()]);
    const external = new Set(imported.filter((name) => !name.startsWith('./') && !isBuiltin(name)));
    expect(external).toEqual(new Set(['better-sqlite3']));
  });

  test('have the compiled code of what a start loads, and this runtime accepts it', async () => {
    const names = ['main.cjs', 'compose-service.cjs', 'writer-thread-code.cjs', 'open-postgres.cjs'];
    // In a process of its own: another test of this one may have set a flag of V8.
    const script = `const { scriptOf, readCompiled } = require(${JSON.stringify(join(installed, 'bin/load.cjs'))});
      for (const name of ${JSON.stringify(names)}) {
        const { cachedDataRejected } = scriptOf(${JSON.stringify(join(installed, 'dist'))} + '/' + name, readCompiled(name));
        console.log(name, cachedDataRejected);
      }`;
    const { stdout } = await run(process.execPath, ['--eval', script]);
    expect(stdout.trim().split('\n')).toEqual(names.map((name) => `${name} false`));
  });

  test('have the licence of every bundled package', () => {
    const text = readFileSync(join(installed, 'dist/licenses.txt'), 'utf8');
    for (const name of ['fastify', 'pg', 'undici', 'zod'])
      expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
    for (const page of ['dashboard', 'inbox']) {
      expect(readFileSync(join(installed, 'dashboard/dist', page, 'licenses.md'), 'utf8')).toContain(
        'preact',
      );
    }
  });

  test('of every command are small, because each command loads its own', () => {
    const loaded = new Set(['main.cjs']);
    for (const file of loaded) {
      for (const name of importsOf(file)) if (name.startsWith('./')) loaded.add(name.slice(2));
    }
    const bytes = [...loaded].map((file) => readFileSync(join(installed, 'dist', file)).byteLength);
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(ALWAYS_LOADED_BYTES_MAX);
  });
});

function codeOf(file: string): string {
  return readFileSync(join(installed, 'dist', file), 'utf8');
}

function codeFiles(): readonly string[] {
  return readdirSync(join(installed, 'dist')).filter((file) => file.endsWith('.cjs'));
}

/** The modules that a file of the bundle loads when it is loaded. Calls inside functions are indented. */
function importsOf(file: string): ReadonlySet<string> {
  return new Set([...codeOf(file).matchAll(/^\S.*?\brequire\("([^"]+)"\)/gm)].map(([, name = '']) => name));
}

describe('installed in an empty folder', () => {
  const runHere = (...args: readonly string[]) =>
    spawnSync(process.execPath, [program, ...args], { cwd: project, encoding: 'utf8' });

  test('it has its version and its help', () => {
    expect(runHere('--version')).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
    const help = runHere('--help');
    expect(help).toMatchObject({ status: 0, stderr: '' });
    expect(existsSync(help.stdout.trimEnd().split('\n').at(-1)?.trim() ?? '')).toBe(true);
  });

  test('`sched dev` sends a delivery to its inbox, and serves its pages', async () => {
    await using dev = await startDev({ program, cwd: project });
    const id = await dev.create({ endpoint: dev.hook, delay: '1s', body: 'from the package' });
    await dev.waitForOutput(/\/inbox\/hook {2}200 {2}attempt 1 .* succeeded/);
    const { data } = await dev.call<{ readonly data: readonly { readonly schedule_id: string }[] }>(
      'GET',
      '/v1/deliveries',
    );
    expect(data.map(({ schedule_id }) => schedule_id)).toEqual([id]);
    for (const page of ['/dashboard', '/inbox']) {
      const [path = ''] = /\/\w+\/assets\/[\w-]+\.js/.exec(await text(dev.url, page)) ?? [];
      expect(path).toMatch(page);
      expect(await text(dev.url, path)).toContain('function');
    }
    expect(await text(dev.url, '/docs')).toContain('/v1/schedules');
    // The data of the pages is read in a thread of its own.
    const browser = new Browser(dev.url);
    await browser.post('local-session');
    expect((await browser.get('p/default/test/overview')).status).toBe(200);
    expect(dev.output.stderr).toBe('');
    dev.signal('SIGTERM');
    expect(await dev.exited).toMatchObject({ code: 0 });
  });

  test('it speaks to PostgreSQL', async () => {
    const database = await createDatabase(await sharedPostgres());
    try {
      const env = {
        SCHED_DATABASE_URL: database.url,
        SCHED_DATA_DIR: temporaryDirectory(),
        SCHED_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
      };
      const { stdout } = await run(process.execPath, [program, 'migrate'], { cwd: project, env });
      expect(stdout).not.toBe('');
    } finally {
      await database.drop();
    }
  });
});

async function text(url: string, path: string): Promise<string> {
  const answer = await fetch(`${url}${path}`);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.text();
}

describe('on an older Node', () => {
  /** Makes the tests' own Node claim to be an older one. */
  const older = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.0.0"})';
  const runtime = join(project, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin/node');
  const runOlder = (...words: readonly string[]) =>
    spawnSync(process.execPath, ['--import', older, program, ...words], { encoding: 'utf8' });
  const serveOlder = () => runOlder('serve', '--port', '1');

  test.runIf(process.platform === 'linux')(
    'it hands over to the runtime that npm installed beside it',
    () => {
      mkdirSync(dirname(runtime), { recursive: true });
      writeFileSync(runtime, '#!/bin/sh\necho "$@"\nexit 3\n', { mode: 0o755 });
      expect(serveOlder()).toMatchObject({ status: 3, stdout: `${program} serve --port 1\n`, stderr: '' });
      rmSync(dirname(runtime), { recursive: true });
    },
  );

  test.runIf(process.platform === 'linux').each(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    'it ends by %s if the runtime does',
    (signal) => {
      mkdirSync(dirname(runtime), { recursive: true });
      writeFileSync(runtime, `#!/bin/sh\nkill -s ${signal.slice(3)} $$\nsleep 9\n`, { mode: 0o755 });
      expect(serveOlder()).toMatchObject({ status: null, signal });
      rmSync(dirname(runtime), { recursive: true });
    },
  );

  test('it tells its version without the runtime', () => {
    expect(runOlder('--version')).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('it says what to do if there is no runtime', () => {
    const { status, stderr } = serveOlder();
    expect(status).toBe(1);
    expect(stderr).toMatch(/^sched: Sched needs Node 24\.15 or newer, and this is 20\.0\.0\. .*\.\n$/);
  });
});

test.runIf(process.platform === 'linux')('a checkout gets back the link that npm 10 removes', () => {
  const checkout = temporaryDirectory();
  const modules = join(checkout, 'node_modules');
  const folder = `node-${process.platform}-${process.arch}/bin`;
  for (const path of ['scripts', 'node_modules/.bin', `node_modules/${folder}`]) {
    mkdirSync(join(checkout, path), { recursive: true });
  }
  writeFileSync(join(modules, folder, 'node'), '');
  const script = join(checkout, 'scripts/link-runtime.js');
  copyFileSync(join(ROOT, 'scripts/link-runtime.js'), script);
  const linkedBy = () => {
    expect(spawnSync(process.execPath, [script], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
    return readlinkSync(join(modules, '.bin/node'));
  };
  // The second run finds the link.
  expect([linkedBy(), linkedBy()]).toEqual([`../${folder}/node`, `../${folder}/node`]);
});

describe('in the image', () => {
  const asUser = canBe(USER) ? USER : {};
  const but = 'uid' in asUser || process.getuid?.() !== 0 ? '' : ' (but root can write everywhere)';

  test(`it runs from a read-only folder as a user who owns nothing of it${but}`, async () => {
    const data = join(home, 'data');
    mkdirSync(data);
    if (process.getuid?.() === 0) chownSync(data, USER.uid, USER.gid);
    setMode(project, 'read-only');
    const before = filesIn(project);
    const service = spawn(process.execPath, [program, ...commandOf('CMD')], {
      cwd: project,
      env: { SCHED_DATA_DIR: data, SCHED_PORT: '0', SCHED_BOOTSTRAP_TEST_KEY: KEY },
      stdio: ['ignore', 'pipe', 'ignore'],
      ...asUser,
    });
    try {
      const url = await listening(service.stdout);
      const [, ...check] = commandOf('HEALTHCHECK');
      const healthOf = (port: string) =>
        spawnSync(process.execPath, check, { env: { SCHED_PORT: port }, timeout: CHECK_MS_MAX }).status;
      expect(healthOf(new URL(url).port)).toBe(0);
      const list = spawnSync(process.execPath, [program, 'deliveries', 'list', '--json'], {
        encoding: 'utf8',
        env: { SCHED_URL: url, SCHED_API_KEY: KEY },
        ...asUser,
      });
      expect(JSON.parse(list.stdout)).toEqual([]);
      service.kill('SIGTERM');
      expect((await once(service, 'exit'))[0]).toBe(0);
      expect(healthOf(new URL(url).port)).toBe(1);
      if (but === '') expect(filesIn(project)).toEqual(before);
      expect(existsSync(join(data, 'sched.db'))).toBe(true);
    } finally {
      service.kill('SIGKILL');
      setMode(project, 'writable');
    }
  });
});

function canBe(user: typeof USER): boolean {
  return process.getuid?.() === 0 && spawnSync(process.execPath, ['--version'], user).status === 0;
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
}

function setMode(folder: string, mode: 'read-only' | 'writable'): void {
  spawnSync('chmod', ['-R', mode === 'read-only' ? 'a+rX,a-w' : 'u+w', folder]);
}

async function listening(output: AsyncIterable<unknown>): Promise<string> {
  let said = '';
  for await (const part of output) {
    said += String(part);
    const url = /^Sched listens on (\S+)$/m.exec(said)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`The service does not listen: ${said}`);
}
