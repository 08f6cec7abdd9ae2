/**
 * Everything temporary of a test run is in one folder, which is removed at its end. Workers cannot remove their own
 * folders: vitest may end them without warning.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** PostgreSQL does not run as root. Its user has to reach its folder. */
const EVERYONE_MAY_ENTER = 0o755;

export default function setUp(): () => void {
  // The name is short, because the path of a socket is limited to about a hundred bytes.
  const folder = mkdtempSync(join(tmpdir(), 'sched-'));
  chmodSync(folder, EVERYONE_MAY_ENTER);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
