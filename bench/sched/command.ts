/** Runs commands of `sched` on a store. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type SchedStore, storeEnv } from './service.ts';

const COMMANDS_MS_MAX = 180_000;

/** `root` is the checkout whose program runs. */
export async function distribute(root: string, store: SchedStore): Promise<void> {
  await run(root, store, ['bin/sched.js', 'migrate', '--distribute']);
}

/** Creates projects in a store, which gets its schema if it has none. Returns a key for each, in test mode. */
export async function createProjects(
  root: string,
  store: SchedStore,
  names: readonly string[],
): Promise<readonly string[]> {
  const program = join(import.meta.dirname, 'projects-process.ts');
  return JSON.parse(await run(root, store, [program, root, ...names])) as readonly string[];
}

async function run(cwd: string, store: SchedStore, args: readonly string[]): Promise<string> {
  const env = { ...process.env, ...storeEnv(store) };
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd,
    env,
    timeout: COMMANDS_MS_MAX,
  });
  return stdout;
}
