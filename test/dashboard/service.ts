/** The real service with its dashboard, a receiver and a browser, one of each per test file. */
import { afterAll, beforeAll, expect } from 'vitest';
import { launchChromium, type TestBrowser } from '#test/browser/chromium.ts';
import { Api } from '#test/e2e/client.ts';
import { type SchedProcess, startSched } from '#test/process/sched-process.ts';
import { type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { buildPage, invitationOf, SETTINGS } from './start.ts';

export interface Service {
  readonly sched: () => SchedProcess;
  readonly receiver: () => Receiver;
  readonly browser: () => TestBrowser;
  /** `/v1` of project `default` in test mode. */
  readonly api: Api;
  /** The link that the first start printed. */
  readonly invitation: () => string;
  /** Kills the process and starts another one with the same data and port. */
  readonly restart: (meanwhile: () => Promise<unknown>) => Promise<void>;
}

/** Call it at the top of a test file. */
export function useService(): Service {
  let running: { sched: SchedProcess; receiver: Receiver; browser: TestBrowser; first: SchedProcess } | null =
    null;
  const harness = () => {
    if (running === null) throw new Error('The service is not running.');
    return running;
  };
  beforeAll(async () => {
    buildPage();
    const [receiver, browser] = await Promise.all([startReceiver(), launchChromium()]);
    const sched = await startSched({ env: SETTINGS });
    running = { sched, receiver, browser, first: sched };
  });
  afterAll(async () => {
    const { sched, receiver, browser } = harness();
    await browser[Symbol.asyncDispose]();
    const { code } = await sched.stop();
    await receiver[Symbol.asyncDispose]();
    expect(code).toBe(0);
  });
  const anonymous = Api.at(() => harness().sched.url);
  return {
    sched: () => harness().sched,
    receiver: () => harness().receiver,
    browser: () => harness().browser,
    get api() {
      return anonymous.as(harness().first.testKey);
    },
    invitation: () => invitationOf(harness().first),
    restart: async (meanwhile) => {
      const { sched } = harness();
      const { port } = new URL(sched.url);
      await sched.kill();
      await meanwhile();
      const next = await startSched({ dataDir: sched.dataDir, env: { ...SETTINGS, SCHED_PORT: port } });
      running = { ...harness(), sched: next };
    },
  };
}
