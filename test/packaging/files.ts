/** The packaging files of the repository. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS } from '#src/app/settings.ts';

export const ROOT = join(import.meta.dirname, '../..');

export const KUBERNETES = globSync('deploy/kubernetes/*', { cwd: ROOT }).toSorted();
export const COMPOSE = globSync('compose*.yaml', { cwd: ROOT }).toSorted();
export const PACKAGING = ['Dockerfile', ...COMPOSE, 'deploy/systemd/sched.service', ...KUBERNETES];

export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Returns the settings in a text that Sched does not have. */
export function unknownSettings(text: string): readonly string[] {
  const known = new Set<string>(Object.values(SETTINGS).map(({ env }) => env));
  return [...new Set(text.match(/SCHED_[A-Z_]+/g))].filter((name) => !known.has(name));
}

/** The default of SCHED_SHUTDOWN_GRACE in seconds. */
export function graceSeconds(): number {
  return SETTINGS.shutdownGraceMs.unset / 1_000;
}
