/** The real service, one process per test file, with everything a test needs to talk to it. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect } from 'vitest';
import { runSched, type SchedProcess, startSched, temporaryDirectory } from '#test/process/sched-process.ts';
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
  // Deliveries move when a test moves them.
  SCHED_ROLE: 'api',
};

/** What `sched key create` answers. */
export interface NewKey {
  readonly id: string;
  readonly key: string;
}

export interface Sched {
  /** Project `default`, test mode: what most tests speak to. */
  readonly api: Api;
  readonly live: Api;
  /** Without a key, and always at the same node: for what a node knows only of itself. */
  readonly atOneNode: Api;
  /** Without a key. */
  readonly anonymous: Api;
  readonly url: () => string;
  /** What the process has written so far. */
  readonly output: () => string;
  /** Moves deliveries of project `default` in test mode as the engine would. */
  readonly drive: Drive;
  /** Stops the process and starts another on the same data. */
  readonly restart: () => Promise<void>;
  /** `sched … --json` beside the running service, and what it answers. */
  readonly command: <T>(...args: readonly string[]) => Promise<T>;
  /** A further project, made by the command line beside the running service, with a key of each mode. */
  readonly addProject: (name: string) => Promise<Readonly<Record<Mode, Api>>>;
}

/** To be called at the top of a test file: the process lives as long as its tests. */
export function useSched(): Sched {
  let dataDir = '';
  const keys = [TEST_KEY, LIVE_KEY];
  let running: SchedProcess | null = null;
  let written = '';
  const drive = new Drive(() => dataDir);

  const start = async () => {
    running = await startSched({ dataDir, env: SETTINGS });
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
    // The keys were brought, so nothing was announced: not one of these may stand anywhere in the output.
    const secrets = [...keys, SIGNING_SECRET, PLANTED];
    expect(secrets.filter((secret) => written.includes(secret))).toEqual([]);
  });

  async function createKey(project: string, mode: Mode): Promise<string> {
    const { key } = await command<NewKey>('key', 'create', '--project', project, '--mode', mode);
    keys.push(key);
    return key;
  }

  async function command<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await runSched([...args, '--json'], { dataDir });
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

function outputOf({ output }: SchedProcess): string {
  return output.stdout + output.stderr;
}
