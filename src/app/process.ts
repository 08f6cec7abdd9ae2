/** Facts about this process, and the clock and timers that commands get as ports. */
import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Random } from '#src/ports/system.ts';

export { systemClock } from '#src/system/clock.ts';
export { systemTimers } from '#src/system/timers.ts';

const NODE_NAME_BYTES = 8;

/** Names this run of the process: after a restart it is another node. */
export function nodeName(random: Random): string {
  return Buffer.from(random.bytes(NODE_NAME_BYTES)).toString('hex');
}

/** The version of this package, as `sched --version` prints it. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null || !('version' in parsed)) return 'unknown';
  return String(parsed.version);
}

/** The first page of the guide. The single executable has no docs: null. */
export function guidePath(): string | null {
  const path = fileURLToPath(new URL('../../docs/README.md', import.meta.url));
  return existsSync(path) ? path : null;
}

/** The user of the operating system, by name, or by number if it has no name, as in most containers. */
export function osUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
