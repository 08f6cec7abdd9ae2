/** Installs the peers in the folder of the benchmark, because the product does not depend on them. */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const HERE = import.meta.dirname;
const INSTALL_MS_MAX = 300_000;
const FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund'];

/** Installs exactly the versions of the lockfile, unless they are installed already. */
export async function installPeers(say: (text: string) => void): Promise<void> {
  const installedAt = changedAt(join(HERE, 'node_modules/.package-lock.json'));
  if (installedAt !== null && installedAt >= (changedAt(join(HERE, 'package-lock.json')) ?? 0)) return;
  say('Installing what Sched is measured against, in bench/node_modules.');
  await promisify(execFile)('npm', ['ci', ...FLAGS], { cwd: HERE, timeout: INSTALL_MS_MAX });
}

function changedAt(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
