/**
 * Measures the package that users install: its size, the time to install it, and the time to start it. The same starts
 * from the checkout are beside them.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Progress } from './progress.ts';
import type { PackageResults, Scale, StartTimes } from './results.ts';

const run = promisify(execFile);

const ROOT = join(import.meta.dirname, '..');
const INSTALL_MS_MAX = 300_000;
const INSTALL = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];
const LISTENS = 'Sched listens on';
const RUNTIME = /^node-(linux|win)-/;

type Install = PackageResults['installs'][number];
type Starts = Readonly<Record<'package' | 'checkout', Record<keyof StartTimes, number[]>>>;

export function packageSteps({ package: { rounds } }: Scale): number {
  return 1 + rounds * 2;
}

export async function measurePackage(scale: Scale, progress: Progress): Promise<PackageResults> {
  const home = mkdtempSync(join(tmpdir(), 'sched-bench-package-'));
  try {
    progress.step('packing');
    const tarball = await pack(home);
    const installs: Install[] = [];
    const starts: Starts = { package: { versionMs: [], devMs: [] }, checkout: { versionMs: [], devMs: [] } };
    let modules = '';
    for (let round = 1; round <= scale.package.rounds; round++) {
      progress.step(`round ${round}, installing the package`);
      const folder = join(home, String(round));
      installs.push(await installTwice(folder, tarball));
      modules = join(folder, 'warm/node_modules');
      progress.step(`round ${round}, starting the package`);
      for (let start = 0; start < scale.package.starts; start++) await startOnce(modules, home, starts);
    }
    return { tarballBytes: statSync(tarball).size, ...sizesOf(modules), installs, starts };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function installTwice(folder: string, tarball: string): Promise<Install> {
  const cache = join(folder, 'cache');
  const coldMs = await install(join(folder, 'cold'), tarball, cache);
  return { coldMs, warmMs: await install(join(folder, 'warm'), tarball, cache) };
}

/** The package and the checkout take turns, because the speed of a machine changes. */
async function startOnce(modules: string, cwd: string, starts: Starts): Promise<void> {
  for (const [from, folder] of [
    ['package', join(modules, 'sched')],
    ['checkout', ROOT],
  ] as const) {
    starts[from].versionMs.push(await versionMs(folder));
    starts[from].devMs.push(await devMs(folder, cwd));
  }
}

function sizesOf(modules: string): Pick<PackageResults, 'installedBytes' | 'runtimeBytes'> {
  const runtimes = readdirSync(modules).filter((name) => RUNTIME.test(name));
  const runtimeBytes = runtimes.reduce((sum, name) => sum + bytesIn(join(modules, name)), 0);
  return { installedBytes: bytesIn(modules) - runtimeBytes, runtimeBytes };
}

async function pack(to: string): Promise<string> {
  await run('npm', ['pack', '--pack-destination', to], { cwd: ROOT });
  const file = readdirSync(to).find((name) => name.endsWith('.tgz')) ?? '';
  return join(to, file);
}

async function install(folder: string, tarball: string, cache: string): Promise<number> {
  mkdirSync(folder, { recursive: true });
  const start = performance.now();
  await run('npm', [...INSTALL, '--cache', cache, tarball], { cwd: folder, timeout: INSTALL_MS_MAX });
  return performance.now() - start;
}

async function versionMs(folder: string): Promise<number> {
  const start = performance.now();
  await run(process.execPath, [join(folder, 'bin/sched.js'), '--version']);
  return performance.now() - start;
}

/** The time until `sched dev` listens. */
async function devMs(folder: string, cwd: string): Promise<number> {
  const start = performance.now();
  const child = spawn(process.execPath, [join(folder, 'bin/sched.js'), 'dev', '--port', '0'], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  try {
    let said = '';
    for await (const part of child.stdout) {
      said += String(part);
      if (said.includes(LISTENS)) return performance.now() - start;
    }
    throw new Error(`sched dev did not start: ${said}`);
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
