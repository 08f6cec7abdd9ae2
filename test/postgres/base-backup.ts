/**
 * Copies the files of a running server, to start a standby. Files may change while they are copied. The write-ahead
 * log since the start of the backup repairs them, and the standby gets it from its primary. This needs no program
 * except the server itself.
 */
import { chownSync, constants, copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Folders that the standby fills itself. */
const EMPTIED = new Set(['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_stat_tmp', 'pg_subtrans']);
const LEFT_OUT = /^(postmaster\.(pid|opts)|postgresql(\.auto)?\.conf|pg_internal\.init.*|pgsql_tmp.*)$/;
/** Copied last: it must not be older than the files that it refers to. */
const CONTROL_FILE = join('global', 'pg_control');

export async function copyCluster(url: string, from: string, to: string, owner?: Owner): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`SELECT pg_backup_start('standby', true)`);
    copyFolder(from, to, owner);
    copyOne(join(from, CONTROL_FILE), join(to, CONTROL_FILE), owner);
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    writeOwned(join(to, 'backup_label'), rows[0]?.labelfile ?? '', owner);
  } finally {
    await client.end();
  }
}

export function writeOwned(path: string, text: string, owner?: Owner): void {
  writeFileSync(path, text, { mode: 0o600 });
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
}

export function makeFolder(path: string, owner?: Owner): void {
  mkdirSync(path, { mode: 0o700 });
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
}

function copyFolder(from: string, to: string, owner?: Owner): void {
  makeFolder(to, owner);
  for (const entry of entriesOf(from)) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (LEFT_OUT.test(entry.name) || source.endsWith(CONTROL_FILE)) continue;
    if (!entry.isDirectory()) copyOne(source, target, owner);
    else if (EMPTIED.has(entry.name)) makeFolder(target, owner);
    else copyFolder(source, target, owner);
  }
}

function entriesOf(folder: string) {
  return unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

function copyOne(from: string, to: string, owner?: Owner): void {
  unlessGone(() => copyFileSync(from, to, constants.COPYFILE_FICLONE));
  if (owner !== undefined) unlessGone(() => chownSync(to, owner.uid, owner.gid));
}

/** A table may be dropped during the copy. */
function unlessGone<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
