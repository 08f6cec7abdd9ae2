/** The real service with its dashboard, a receiver and a browser, one of each per test file. */
import { afterAll, beforeAll, expect } from 'vitest';
import { type TestBrowser, useChromium } from '#test/browser/chromium.ts';
import { Api } from '#test/e2e/client.ts';
import { type RunningService, startCheapest } from '#test/process/run-command.ts';
import { printed, type SchedProcess, startSched, TEST_KEY } from '#test/process/sched-process.ts';
import { type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { buildPage, invitationOf, SETTINGS } from './start.ts';

export interface Service {
  readonly sched: () => RunningService;
  readonly receiver: () => Receiver;
  readonly browser: () => TestBrowser;
  /** `/v1` of project `default` in test mode. */
  readonly api: Api;
  /** The link that the first start printed. */
  readonly invitation: () => string;
}

export interface RestartableService extends Service {
  /** Kills the process and starts another one with the same data and port. */
  readonly restart: (meanwhile: () => Promise<unknown>) => Promise<void>;
}

/** Call it at the top of a test file. */
export function useService(env: Readonly<Record<string, string>> = {}): Service {
  return serviceOf(async () => {
    const sched = await startCheapest({ env: { ...SETTINGS, ...env } });
    return { first: sched, sched: () => sched };
  });
}

/** A service that is a process of its own, so that it can be killed. */
export function useRestartableService(): RestartableService {
  let sched: SchedProcess;
  const service = serviceOf(async () => {
    sched = await startSched({ env: SETTINGS });
    return { first: sched, sched: () => sched };
  });
  return Object.assign(service, {
    restart: async (meanwhile: () => Promise<unknown>) => {
      const { port } = new URL(sched.url);
      await sched.kill();
      await meanwhile();
      sched = await startSched({ dataDir: sched.dataDir, env: { ...SETTINGS, SCHED_PORT: port } });
    },
  });
}

interface Started {
  /** Only the first start of a service prints keys and an invitation. */
  readonly first: RunningService;
  readonly sched: () => RunningService;
}

function serviceOf(start: () => Promise<Started>): Service {
  let running: (Started & { receiver: Receiver; browser: TestBrowser }) | null = null;
  const harness = () => {
    if (running === null) throw new Error('The service is not running.');
    return running;
  };
  beforeAll(async () => {
    buildPage();
    const [receiver, browser] = await Promise.all([startReceiver(), useChromium()]);
    running = { ...(await start()), receiver, browser };
  });
  afterAll(async () => {
    const { sched, receiver, browser } = harness();
    await browser[Symbol.asyncDispose]();
    const { code } = await sched().stop();
    await receiver[Symbol.asyncDispose]();
    expect(code).toBe(0);
  });
  const anonymous = Api.at(() => harness().sched().url);
  return {
    sched: () => harness().sched(),
    receiver: () => harness().receiver,
    browser: () => harness().browser,
    get api() {
      return anonymous.as(printed(harness().first.output, TEST_KEY));
    },
    invitation: () => invitationOf(harness().first),
  };
}
