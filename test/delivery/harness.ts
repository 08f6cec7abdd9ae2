/**
 * The real service with its engine, and a real receiver: one of each per test file.
 *
 * The tests of a file run concurrently, so that they share the waiting time. Each test has its own hook, and
 * hence its own endpoint. At the end everything is audited (see `audit.ts`).
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Timers } from '#src/ports/system.ts';
import { systemTimers } from '#src/system/timers.ts';
import { Api, PLANTED } from '#test/e2e/client.ts';
import { created, onlyDelivery, ordered } from '#test/e2e/expectations.ts';
import type { Delivery, Schedule } from '#test/e2e/resources.ts';
import {
  type RunningService,
  runCommand,
  type ServicePorts,
  startCheapest,
} from '#test/process/run-command.ts';
import { type SchedProcess, startSched, temporaryDirectory } from '#test/process/sched-process.ts';
import { IS_CITUS, NODES } from '#test/process/store-in-use.ts';
import type { Behaviour } from '#test/receiver/behaviours.ts';
import {
  CA_FILE,
  type Hook,
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from '#test/receiver/receiver.ts';
import { audit } from './audit.ts';

export const TEST_KEY = 'sk_test_deliveryDELIVERY0123456789';
export const LIVE_KEY = 'sk_live_deliveryDELIVERY0123456789';
export const SIGNING_SECRET = 'whsec_deliveryDELIVERY0123456789secret';

export const SETTINGS = {
  SCHED_BOOTSTRAP_TEST_KEY: TEST_KEY,
  SCHED_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
  SCHED_BOOTSTRAP_SIGNING_SECRET: SIGNING_SECRET,
  SCHED_LOG_LEVEL: 'debug',
  SCHED_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
  SCHED_EGRESS_ALLOW_HTTP: 'true',
  SCHED_EGRESS_CA_FILE: CA_FILE,
};

const LONG_TIMER_MS = 20_000;
/** A stop at the end of a file need not wait longer for a request in flight. */
const GRACE = { SCHED_SHUTDOWN_GRACE: '5s' };

/** For tests that each start a service. Several nodes, or databases on three servers, are too many at once. */
export const CONCURRENT_SERVICES = { concurrent: NODES === 1 && !IS_CITUS };

const WARM_UP_TIMES = 3;

/** A schedule with its one delivery. */
export interface Given {
  readonly id: string;
  readonly shown: Schedule;
  readonly pending: Delivery;
}

export interface Deliveries {
  /** The project `default` in test mode. */
  readonly api: Api;
  readonly live: Api;
  readonly receiver: () => Receiver;
  readonly sched: () => RunningService;
  /** A new path of the receiver; see `Receiver.hook`. */
  readonly hook: (...script: readonly Behaviour[]) => Hook;
  /** Creates a schedule in test mode. It is due in a second unless the body says otherwise. */
  readonly given: (body: object) => Promise<Given>;
  /** Starts another receiver, which runs as long as the file's tests. */
  readonly addReceiver: (options: ReceiverOptions) => () => Receiver;
  /** Another secret that deliveries may be signed with. */
  readonly addSecret: (secret: string) => void;
  /** Runs `sched … --json` beside the running service and returns its answer. */
  readonly command: <T>(...args: readonly string[]) => Promise<T>;
}

/** A test file calls this at its top level. */
export function useDeliveries(env: Readonly<Record<string, string>> = {}, ports?: ServicePorts): Deliveries {
  const secrets = [SIGNING_SECRET];
  let running: { readonly sched: RunningService; readonly receiver: Receiver } | null = null;
  const harness = () => {
    if (running === null) throw new Error('The service is not running.');
    return running;
  };
  const anonymous = Api.at(() => harness().sched.url);
  const api = anonymous.as(TEST_KEY);
  const live = anonymous.as(LIVE_KEY);

  beforeAll(async () => {
    const receiver = await startReceiver();
    const sched = await startCheapest({ env: { ...SETTINGS, ...GRACE, ...env } }, ports);
    if (NODES > 1) await Promise.all(sched.urls.map(warmUp));
    running = { receiver, sched };
  });
  afterAll(async () => {
    const { sched, receiver } = harness();
    try {
      await audit([api, live], receiver.requests, secrets);
      expect(receiver.unmatched).toEqual([]);
    } finally {
      await receiver[Symbol.asyncDispose]();
      const { code } = await sched.stop();
      rmSync(sched.dataDir, { recursive: true, force: true });
      expect(code).toBe(0);
      expectNoSecrets(sched.output, secrets);
    }
  });

  return {
    api,
    live,
    receiver: () => harness().receiver,
    sched: () => harness().sched,
    hook: (...script) => harness().receiver.hook(...script),
    given: (body) => given(api, body),
    addReceiver,
    addSecret: (secret) => secrets.push(secret),
    async command<T>(...args: readonly string[]) {
      const { code, stdout, stderr } = await runCommand([...args, '--json'], {
        dataDir: harness().sched.dataDir,
      });
      expect(`${code} ${stderr}`).toBe('0 ');
      return JSON.parse(stdout) as T;
    },
  };
}

/** Opens the connections to the database that the first tests need, because several nodes open many. */
async function warmUp(url: string): Promise<void> {
  const api = Api.at(() => url).as(TEST_KEY);
  for (let times = 0; times < WARM_UP_TIMES; times++) {
    const { id } = await given(api, { endpoint: 'https://receiver.example/', delay: '24h' });
    await ordered(api, id, 'cancel');
  }
}

function addReceiver(options: ReceiverOptions): () => Receiver {
  let receiver: Receiver | null = null;
  beforeAll(async () => {
    receiver = await startReceiver(options);
  });
  afterAll(() => receiver?.[Symbol.asyncDispose]());
  return () => {
    if (receiver === null) throw new Error('The receiver is not running.');
    return receiver;
  };
}

export async function given(api: Api, body: object): Promise<Given> {
  const isTimed = ['delay', 'fire_at', 'local_fire_at', 'cron'].some((field) => field in body);
  const shown = await created(api, isTimed ? body : { ...body, delay: '2s' });
  return { id: shown.id, shown, pending: await onlyDelivery(api, shown.id) };
}

/** Starts the service for a test that starts and stops it itself. */
export function startService(
  dataDir: string = temporaryDirectory(),
  env: Readonly<Record<string, string>> = {},
): Promise<SchedProcess> {
  return startSched({ dataDir, env: { ...SETTINGS, ...env } });
}

/** Starts a service whose timers of 20 s and more run in a fraction of their time. */
export function startWithFastTimers(
  factor: number,
  dataDir: string = temporaryDirectory(),
  env: Readonly<Record<string, string>> = {},
): Promise<RunningService> {
  const fastMs = (ms: number) => (ms >= LONG_TIMER_MS ? ms / factor : ms);
  const timers: Timers = { after: (ms, act) => systemTimers.after(fastMs(ms), act) };
  return startCheapest({ dataDir, env: { ...SETTINGS, ...env } }, { timers });
}

/** No key, secret, header value or body may appear in a process's output. */
export function expectNoSecrets(output: RunningService['output'], secrets: readonly string[]): void {
  const written = output.stdout + output.stderr;
  const hidden = [TEST_KEY, LIVE_KEY, PLANTED, ...secrets];
  expect(hidden.filter((each) => written.includes(each))).toEqual([]);
}
