/**
 * One change of the contexts at a time, over all processes: whoever has made the lock file may read, change and
 * write. Others wait for it to go. A process that was killed leaves its lock behind: after some seconds, in which
 * any change is long done, the next one takes it away.
 */
import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, systemCodeOf } from '#src/app/failures.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { CommandFailure } from '#src/cli/failure.ts';
import { pause } from '#src/cli/pause.ts';
import type { Instant } from '#src/domain/instant.ts';

const STALE_AFTER_MS = 5_000;
const WAIT_MS_MAX = 10_000;
const LOOK_AGAIN_MS = 20;

type LockDependencies = Pick<CliDependencies, 'clock' | 'timers'>;

/** Does the work while nobody else does. */
export async function alone<T>(
  path: string,
  dependencies: LockDependencies,
  work: () => Promise<T>,
): Promise<T> {
  const lock = `${path}.lock`;
  const id = await taken(lock, dependencies);
  try {
    return await work();
  } finally {
    // Unless somebody thought that it was left behind: then there may be another one in its place.
    if ((await seen(lock))?.id === id) await rm(lock, { force: true });
  }
}

/** Waits for the lock and makes it; tells which file it is. */
async function taken(lock: string, { clock, timers }: LockDependencies): Promise<string> {
  const untilMs = clock.now() + WAIT_MS_MAX;
  for (;;) {
    const id = await made(lock);
    if (id !== null) return id;
    const other = await seen(lock);
    if (other !== null && ageMs(other, clock.now()) > STALE_AFTER_MS) await takeAway(lock, other.id);
    if (clock.now() > untilMs)
      throw new CommandFailure(`Another command changes the contexts: ${lock} is there. Try again.`);
    await pause(timers, LOOK_AGAIN_MS);
  }
}

/** Null where there is one. */
async function made(lock: string): Promise<string | null> {
  try {
    await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
    await using file = await open(lock, 'wx', 0o600);
    return idOf(await file.stat());
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return null;
    throw new CommandFailure(`The contexts cannot be written: ${messageOf(error)}.`);
  }
}

interface Seen {
  readonly id: string;
  readonly madeMs: number;
}

async function seen(path: string): Promise<Seen | null> {
  const found = await stat(path).catch(() => null);
  return found === null ? null : { id: idOf(found), madeMs: found.mtimeMs };
}

function ageMs({ madeMs }: Seen, now: Instant): number {
  return now - madeMs;
}

/** The number of a file that is gone is given to the next one: only with its time it tells them apart. */
function idOf({ ino, mtimeMs }: Stats): string {
  return `${ino} ${mtimeMs}`;
}

/** Moved aside first: was it a newer one, made since it was looked at, it is put back. */
async function takeAway(lock: string, id: string): Promise<void> {
  const aside = `${lock}.${randomBytes(6).toString('hex')}`;
  try {
    await rename(lock, aside);
    if ((await seen(aside))?.id !== id) await link(aside, lock);
  } catch {
    // Somebody was faster.
  }
  await rm(aside, { force: true });
}
