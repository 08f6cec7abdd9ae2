/** Installs the peers in the folder of the benchmark, because the product does not depend on them. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const HERE = import.meta.dirname;
const INSTALL_MS_MAX = 300_000;
const FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund'];

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>;
}

/** Installs exactly the versions of the lockfile, unless they are installed already. */
export async function installPeers(say: (text: string) => void): Promise<void> {
  const wanted = lockfileAt(join(HERE, 'package-lock.json'));
  const installed = lockfileAt(join(HERE, 'node_modules/.package-lock.json'));
  if (wanted !== null && installed !== null && isInstalled(wanted, installed)) return;
  say('Installing what Sched is measured against, in bench/node_modules.');
  await promisify(execFile)('npm', ['ci', ...FLAGS], { cwd: HERE, timeout: INSTALL_MS_MAX });
}

/** Compares versions and not the times of the files: `npm ci` first removes a folder that checkouts may share. */
export function isInstalled(wanted: Lockfile, installed: Lockfile): boolean {
  return Object.entries(wanted.packages).every(([path, { version, optional = false }]) => {
    const found = installed.packages[path];
    // The first entry is the benchmark itself. Optional packages are installed on some platforms only.
    if (path === '' || (optional && found === undefined)) return true;
    return found?.version === version;
  });
}

function lockfileAt(file: string): Lockfile | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Lockfile) : null;
}
