/**
 * The packages that `npm ci --omit=dev --omit=optional` installs, according to the lock file. They are copied and
 * not linked, because a linked package would also find the development packages of this checkout.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, read } from './files.ts';

interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

/** Returns paths such as `node_modules/pg`. Nested packages are part of their parent. */
export function productionPackages(): readonly string[] {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  return Object.entries(packages)
    .filter(([, { dev, optional, devOptional }]) => !dev && !optional && !devOptional)
    .map(([path]) => path)
    .filter((path) => path.lastIndexOf('node_modules/') === 0);
}

/** C sources that the service never reads, but that are most of the bytes. */
const UNUSED = /\/better-sqlite3\/(deps|src)(\/|$)/;

export function copyProductionPackages(to: string): void {
  for (const path of productionPackages()) {
    cpSync(join(ROOT, path), join(to, path), { recursive: true, filter: (from) => !UNUSED.test(from) });
  }
}
