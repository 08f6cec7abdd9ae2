/**
 * Writes the files of the executable to a folder of their own, because Node loads native code and the modules of threads
 * from files only. The folder belongs to the user and nobody else can write there: whoever can write a file that is
 * loaded runs code as this user. A folder from an earlier start is compared with the executable, byte for byte.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

export interface Packed {
  /** The files by their path in the folder. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Names the version of all files together. */
  readonly digest: string;
}

export interface Unpacked {
  readonly folder: string;
  /** Whether the folder is of this process alone, and has to be removed when it ends. */
  readonly isTemporary: boolean;
}

const PRIVATE = 0o700;
const BITS_OF_OTHERS = 0o077;

/** The folders to try come in the order of preference. In `temporary`, a folder for this process is created. */
export function unpack(packed: Packed, kept: readonly string[], temporary: string): Unpacked {
  for (const base of kept) {
    const folder = unpackOrNull(packed, base);
    if (folder !== null) return { folder, isTemporary: false };
  }
  const folder = mkdtempSync(join(temporary, 'sched-'));
  writeFiles(packed, folder);
  return { folder, isTemporary: true };
}

/**
 * The cache folder of the user. The home folder is the one of the user database: under `sudo`, the variable HOME may
 * name the home of another user, who could change the files.
 */
export function cacheFolders(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const { XDG_CACHE_HOME = '' } = env;
  if (isAbsolute(XDG_CACHE_HOME)) return [join(XDG_CACHE_HOME, 'sched')];
  try {
    return [join(userInfo().homedir, '.cache/sched')];
  } catch {
    return [];
  }
}

/** Returns null if the folder cannot be written, or if others can write there. */
function unpackOrNull(packed: Packed, base: string): string | null {
  try {
    mkdirSync(base, { recursive: true, mode: PRIVATE });
    const folder = join(base, packed.digest);
    if (!isOwn(base)) return null;
    if (isOwn(folder) && hasFiles(packed, folder)) return folder;
    replace(packed, folder);
    return isOwn(folder) && hasFiles(packed, folder) ? folder : null;
  } catch {
    return null;
  }
}

function isOwn(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & BITS_OF_OTHERS) === 0;
}

function hasFiles({ files }: Packed, folder: string): boolean {
  try {
    return [...files].every(([path, content]) => readFileSync(join(folder, path)).equals(content));
  } catch {
    return false;
  }
}

/**
 * The folder gets its name when it is complete. If another process was faster, its folder stays. A folder with other
 * content is moved away first, since a folder that is not empty cannot be replaced in one step.
 */
function replace(packed: Packed, folder: string): void {
  const next = `${folder}.${randomBytes(8).toString('hex')}`;
  const wrong = `${next}.wrong`;
  mkdirSync(next, { mode: PRIVATE });
  try {
    writeFiles(packed, next);
    if (canRename(next, folder) || (isOwn(folder) && hasFiles(packed, folder))) return;
    renameSync(folder, wrong);
    renameSync(next, folder);
  } finally {
    for (const path of [next, wrong]) rmSync(path, { recursive: true, force: true });
  }
}

function canRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

function writeFiles({ files }: Packed, folder: string): void {
  for (const [path, content] of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true, mode: PRIVATE });
    writeFileSync(file, content, { mode: 0o600, flag: 'wx' });
  }
}
