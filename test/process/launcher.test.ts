/** `bin/sched.js` is what `npx sched` and a link on the PATH run. It works on any Node from 20 on. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { temporaryDirectory } from './sched-process.ts';

const LAUNCHER = join(import.meta.dirname, '../../bin/sched.js');

/** A Node of this machine that is older than the one Sched needs. Null if there is none. */
function olderNode(): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const node = join(folder, 'node');
    if (folder.includes('node_modules') || !existsSync(node)) continue;
    const { stdout } = spawnSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' });
    const [major = 0, minor = 0] = stdout.split('.').map(Number);
    if (major >= 20 && (major < 24 || (major === 24 && minor < 15))) return node;
  }
  return null;
}

const older = olderNode();
const nodes: readonly (readonly [string, string])[] = [
  ['its own Node', process.execPath],
  ...(older === null ? [] : [['an older Node' as const, older] as const]),
];

describe.each(nodes)('on %s', (_name, node) => {
  const run = (...args: readonly string[]) => spawnSync(node, [LAUNCHER, ...args], { encoding: 'utf8' });

  test('it runs the command and prints its answer', () => {
    expect(run('--version')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(run('no-such-command')).toMatchObject({ status: 2, stdout: '' });
  });

  const isOwn = node === process.execPath;
  const processors = availableParallelism();
  const title = isOwn
    ? 'the service uses fewer helper threads on a small machine, stays the process that was started, and ends with a signal'
    : 'a signal reaches the service, and both processes end';
  test(title, async () => {
    const child = spawn(node, [LAUNCHER, 'serve', '--port', '0', '--data-dir', temporaryDirectory()]);
    const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (text: Buffer) => String(text).includes('Sched listens') && resolve());
    });
    if (isOwn && process.platform === 'linux' && processors <= 4) {
      const command = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').split('\0');
      expect(command).toContain(`--v8-pool-size=${Math.max(processors - 1, 1)}`);
    }
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });
});

test('an empty NODE_COMPILE_CACHE puts no compiled code into the working directory', () => {
  const cwd = temporaryDirectory();
  const env = { ...process.env, NODE_COMPILE_CACHE: '' };
  expect(spawnSync(process.execPath, [LAUNCHER, '--version'], { cwd, env }).status).toBe(0);
  expect(readdirSync(cwd)).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'the service starts threads after its working directory is removed',
  async () => {
    const cwd = mkdtempSync(join(temporaryDirectory(), 'release-'));
    const args = [LAUNCHER, 'serve', '--port', '0', '--data-dir', temporaryDirectory()];
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
    const url = await new Promise<string>((resolve) => {
      child.stdout.on('data', (text: Buffer) => {
        const [, listening] = /Sched listens on (\S+)/.exec(String(text)) ?? [];
        if (listening !== undefined) resolve(listening);
      });
    });
    rmdirSync(cwd);
    try {
      // A thread renders the document.
      await vi.waitFor(async () => expect((await fetch(`${url}/openapi.json`)).status).toBe(200), {
        timeout: 20_000,
        interval: 250,
      });
    } finally {
      child.kill('SIGTERM');
      await once(child, 'close');
    }
  },
);
