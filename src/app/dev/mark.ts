/**
 * A data directory of `sched dev` says so. The keys in it are known to everyone: a service that listens for
 * others must not start on it, nor may they be put into the data of such a service.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from '#src/app/failures.ts';
import { DATABASE_FILE } from '#src/store/sqlite/sqlite-store.ts';

const PLAYGROUND_FILE = 'playground';
const CONTENT = 'The data of `sched dev`, whose keys are known to everyone: no service starts on them.\n';

export function markPlayground(directory: string): void {
  writeFileSync(join(directory, PLAYGROUND_FILE), CONTENT, { mode: 0o600 });
}

/** Refuses the data of a playground to a service, and the data of a service to a playground. */
export function refuseOthers(directory: string, isPlayground: boolean): void {
  const isMarked = existsSync(join(directory, PLAYGROUND_FILE));
  if (isMarked && !isPlayground) {
    throw new StartFailure(
      `The data in ${directory} are those of \`sched dev\`, whose keys are known to everyone; set SCHED_DATA_DIR to another directory.`,
    );
  }
  if (isPlayground && !isMarked && existsSync(join(directory, DATABASE_FILE))) {
    throw new StartFailure(
      `The data in ${directory} are those of a service, and \`sched dev\` would add keys to them that are known to everyone; choose another --data-dir.`,
    );
  }
}
