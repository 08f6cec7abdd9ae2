/**
 * Starts the service for the fuzzer. Its API keys are fixed, every log line is kept, and nothing is sent out.
 */
import { type ServiceInThread, startInThread } from '#test/process/run-command.ts';
import { type SchedProcess, startSched } from '#test/process/sched-process.ts';

export const TEST_KEY = 'sk_test_fuzzfuzzfuzzfuzzfuzzfuzzfuzzfuzz';
export const LIVE_KEY = 'sk_live_fuzzfuzzfuzzfuzzfuzzfuzzfuzzfuzz';

const SETTINGS = {
  SCHED_BOOTSTRAP_TEST_KEY: TEST_KEY,
  SCHED_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
  SCHED_LOG_LEVEL: 'info',
  SCHED_ROLE: 'api',
};

export function startService(dataDir: string): Promise<SchedProcess> {
  return startSched({ dataDir, env: SETTINGS });
}

/** Costs less than a process. It serves where nothing ends the service by a signal. */
export function startServiceInThread(dataDir: string): Promise<ServiceInThread> {
  return startInThread({ dataDir, env: SETTINGS });
}
