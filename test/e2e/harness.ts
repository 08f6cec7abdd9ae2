/** The real service, one for each test file, with the clients that tests need. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect } from 'vitest';
import { type RunningService, runCommand, startCheapest } from '#test/process/run-command.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { Api, PLANTED } from './client.ts';
import { Drive } from './drive.ts';
import type { Mode } from './resources.ts';

export const TEST_KEY = 'sk_test_e2eE2EcafeCAFE0123456789';
export const LIVE_KEY = 'sk_live_e2eE2EcafeCAFE0123456789';
const SIGNING_SECRET = 'whsec_e2eE2EcafeCAFE0123456789';

const SETTINGS = {
  SCHED_BOOTSTRAP_TEST_KEY: TEST_KEY,
  SCHED_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
  SCHED_BOOTSTRAP_SIGNING_SECRET: SIGNING_SECRET,
  SCHED_LOG_LEVEL: 'debug',
  // Only the test moves deliveries.
  SCHED_ROLE: 'api',
};

/** The answer of `sched key create`. */
export interface NewKey {
  readonly id: string;
  readonly key: string;
}

export interface Sched {
  /** Project `default` in test mode, which most tests use. */
  readonly api: Api;
  readonly live: Api;
  /** A client without a key that always uses the same node, for facts that only this node knows. */
  readonly atOneNode: Api;
  /** A client without a key. */
  readonly anonymous: Api;
  readonly url: () => string;
  /** The output of the service so far. */
  readonly output: () => string;
  /** Moves deliveries of project `default` in test mode as the engine would. */
  readonly drive: Drive;
  /** Stops the service and starts another one on the same data. */
  readonly restart: () => Promise<void>;
  /** Runs `sched … --json` beside the running service, and returns its answer. */
  readonly command: <T>(...args: readonly string[]) => Promise<T>;
  /** Creates another project with a key of each mode, by the command line beside the running service. */
  readonly addProject: (name: string) => Promise<Readonly<Record<Mode, Api>>>;
}

/**
 * Call it at the top of a test file. The service runs as long as its tests. A test that measures the memory of the
 * service starts it with `startSched`, as a process of its own.
 */
export function useSched(startService: typeof startCheapest = startCheapest): Sched {
  let dataDir = '';
  const keys = [TEST_KEY, LIVE_KEY];
  let running: RunningService | null = null;
  let written = '';
  const drive = new Drive(() => dataDir);

  const start = async () => {
    running = await startService({ dataDir, env: SETTINGS });
  };
  const service = () => {
    if (running === null) throw new Error('The service is not running.');
    return running;
  };
  const stop = async () => {
    const ending = service();
    const { code } = await ending.stop();
    written += outputOf(ending);
    running = null;
    expect(code).toBe(0);
  };

  beforeAll(async () => {
    dataDir = temporaryDirectory();
    await start();
  });
  afterAll(async () => {
    await drive.close();
    if (running !== null) await stop();
    rmSync(dataDir, { recursive: true, force: true });
    // The keys were provided, so the start printed none. None of these texts may appear in the output.
    const secrets = [...keys, SIGNING_SECRET, PLANTED];
    expect(secrets.filter((secret) => written.includes(secret))).toEqual([]);
  });

  async function createKey(project: string, mode: Mode): Promise<string> {
    const { key } = await command<NewKey>('key', 'create', '--project', project, '--mode', mode);
    keys.push(key);
    return key;
  }

  async function command<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await runCommand([...args, '--json'], { dataDir });
    expect(`${code} ${stderr}`).toBe('0 ');
    return JSON.parse(stdout) as T;
  }

  const anonymous = Api.at(() => service().url);
  return {
    api: anonymous.as(TEST_KEY),
    live: anonymous.as(LIVE_KEY),
    atOneNode: Api.at(() => service().urls[0] ?? ''),
    anonymous,
    url: () => service().url,
    output: () => written + (running === null ? '' : outputOf(running)),
    drive,
    restart: async () => {
      await stop();
      await start();
    },
    command,
    addProject: async (name) => {
      await command('project', 'create', name);
      const test = await createKey(name, 'test');
      const live = await createKey(name, 'live');
      return { test: anonymous.as(test), live: anonymous.as(live) };
    },
  };
}

function outputOf({ output }: RunningService): string {
  return output.stdout + output.stderr;
}
