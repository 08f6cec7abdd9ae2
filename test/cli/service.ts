/** Starts a real service and a receiver for a test file, and runs commands against them. */
import { afterAll, beforeAll, expect } from 'vitest';
import { Sched } from '#sdk/index.ts';
import { SETTINGS, TEST_KEY } from '#test/delivery/harness.ts';
import { type RunningService, startCheapest } from '#test/process/run-command.ts';
import { type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { type Ended, type Piped, runPiped } from './command.ts';

export { TEST_KEY } from '#test/delivery/harness.ts';

export interface Service {
  readonly url: () => string;
  readonly receiver: () => Receiver;
  /** A client for the parts of a test that do not use the command line. */
  readonly client: () => Sched;
  readonly env: () => Record<string, string>;
  /** Runs a command in pipes, with the address and the key in its environment. */
  readonly sched: (args: readonly string[], options?: Piped) => Promise<Ended>;
  /** Runs a command with `--json`. It must succeed and print nothing on standard error. */
  readonly json: <T = Record<string, unknown>>(...args: readonly string[]) => Promise<T>;
}

/** Must be called at the top of a test file. */
export function useService(): Service {
  let running: { readonly sched: RunningService; readonly receiver: Receiver } | null = null;
  const harness = () => {
    if (running === null) throw new Error('The service is not running.');
    return running;
  };
  beforeAll(async () => {
    const [receiver, sched] = await Promise.all([
      startReceiver({ scheme: 'http' }),
      startCheapest({ env: SETTINGS }),
    ]);
    running = { receiver, sched };
  });
  afterAll(async () => {
    const { sched, receiver } = harness();
    await receiver[Symbol.asyncDispose]();
    expect((await sched.stop()).code).toBe(0);
  });
  const env = () => ({ SCHED_URL: harness().sched.url, SCHED_API_KEY: TEST_KEY });
  const sched = (args: readonly string[], options: Piped = {}) =>
    runPiped(args, { ...options, env: { ...env(), ...options.env } });
  return {
    url: () => harness().sched.url,
    receiver: () => harness().receiver,
    client: () => new Sched({ url: harness().sched.url, apiKey: TEST_KEY }),
    env,
    sched,
    async json<T>(...args: readonly string[]) {
      const { code, stdout, stderr } = await sched([...args, '--json']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return JSON.parse(stdout) as T;
    },
  };
}
