/** The start of a service with its dashboard: the built page, its settings, its first invitation. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { RunningService } from '#test/process/run-command.ts';
import { CA_FILE } from '#test/receiver/receiver.ts';

const ROOT = join(import.meta.dirname, '../..');
const INVITATION = /http:\/\/\S+\/dashboard\/invite#[\w-]{43}/;

/** Settings for a service that may send to the receiver on this machine. */
export const SETTINGS = {
  SCHED_EGRESS_ALLOW: '127.0.0.0/8',
  SCHED_EGRESS_CA_FILE: CA_FILE,
  // The end of a test does not wait for requests that hang.
  SCHED_SHUTDOWN_GRACE: '1s',
};

let isBuilt = false;

/** Builds the page, once for all test files of a worker. */
export function buildPage(): void {
  if (isBuilt) return;
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build-dashboard.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The page could not be built.\n${stderr}`);
  isBuilt = true;
}

/** The link that the first start prints. */
export function invitationOf({ output }: Pick<RunningService, 'output'>): string {
  const [link] = INVITATION.exec(output.stdout) ?? [];
  if (link === undefined) throw new Error(`No invitation was printed.\n${output.stdout}`);
  return link;
}
