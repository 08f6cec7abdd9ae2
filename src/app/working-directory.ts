/**
 * Leaves a working directory that was removed, as a deployment does that replaces the folder of a release. Node starts no
 * thread in such a directory, so the dashboard, searches and the reference would fail until the next start. Nothing is
 * lost: a relative path leads nowhere from there.
 */
import { realpathSync } from 'node:fs';
import { parse } from 'node:path';

const CHECK_MS = 1_000;

export function leaveRemovedDirectory(): void {
  setInterval(() => {
    try {
      // `process.cwd()` would answer from memory.
      realpathSync.native('.');
    } catch {
      process.chdir(parse(process.execPath).root);
    }
  }, CHECK_MS).unref();
}
