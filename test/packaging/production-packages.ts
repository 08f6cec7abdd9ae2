/**
 * What `npm ci --omit=dev --omit=optional` installs, taken from the packages that are here by what the lock file
 * says of each. Copied, not linked: a package behind a link would find its neighbours of this checkout, those for
 * development among them.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, read } from './files.ts';

interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

/** As paths such as `node_modules/pg`; one inside of another comes along with it. */
export function productionPackages(): readonly string[] {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  return Object.entries(packages)
    .filter(([, { dev, optional, devOptional }]) => !dev && !optional && !devOptional)
    .map(([path]) => path)
    .filter((path) => path.lastIndexOf('node_modules/') === 0);
}

/** Sources to compile from, which no start reads, are most of the bytes. */
const NOT_READ = /\/better-sqlite3\/(deps|src)(\/|$)/;

export function copyProductionPackages(to: string): void {
  for (const path of productionPackages()) {
    cpSync(join(ROOT, path), join(to, path), { recursive: true, filter: (from) => !NOT_READ.test(from) });
  }
}
