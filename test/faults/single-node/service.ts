/**
 * Starts the real service for these tests. It may send to receivers on this machine, and its API keys are
 * known.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type ServiceInThread, type ServicePorts, startInThread } from '#test/process/run-command.ts';
import { type SchedProcess, startSched } from '#test/process/sched-process.ts';
import { CA_FILE } from '#test/receiver/receiver.ts';

const ROOT = join(import.meta.dirname, '../../..');

export const TEST_KEY = 'sk_test_faultsFAULTSfaultsFAULTS01234567';

const SETTINGS = {
  SCHED_BOOTSTRAP_TEST_KEY: TEST_KEY,
  SCHED_BOOTSTRAP_LIVE_KEY: 'sk_live_faultsFAULTSfaultsFAULTS01234567',
  SCHED_BOOTSTRAP_SIGNING_SECRET: 'whsec_faultsFAULTSfaultsFAULTS01234567',
  SCHED_LOG_LEVEL: 'warn',
  SCHED_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
  SCHED_EGRESS_CA_FILE: CA_FILE,
};

export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The name of a module in `preload/`. */
  readonly preload?: string;
}

function environmentOf({ env = {}, preload }: ServiceOptions): Readonly<Record<string, string>> {
  const file = preload === undefined ? null : join(import.meta.dirname, 'preload', preload);
  return {
    ...SETTINGS,
    ...(file === null ? {} : { NODE_OPTIONS: `--import=${pathToFileURL(file).href}` }),
    ...env,
  };
}

export function startService(dataDir: string, options: ServiceOptions = {}): Promise<SchedProcess> {
  return startSched({ dataDir, env: environmentOf(options) });
}

/** Costs less than a process. It serves where nothing ends the service by a signal, or measures it. */
export function startServiceInThread(
  dataDir: string,
  { env }: Pick<ServiceOptions, 'env'> = {},
  time?: ServicePorts,
): Promise<ServiceInThread> {
  return startInThread({ dataDir, env: { ...SETTINGS, ...env } }, time);
}

/** Starts the service and kills it after `afterMs`, while it may open the store or close lost attempts. */
export async function startAndKill(dataDir: string, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, ['bin/sched.js', 'serve'], {
    cwd: ROOT,
    env: { ...process.env, ...SETTINGS, SCHED_PORT: '0', SCHED_DATA_DIR: dataDir },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  await sleep(afterMs);
  child.kill('SIGKILL');
  await exited;
}
