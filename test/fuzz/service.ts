/**
 * Starts the service for the fuzzer. Its API keys are fixed, every log line is kept, and nothing is sent out.
 */
import { type SchedProcess, startSched } from '#test/process/sched-process.ts';

export const TEST_KEY = 'sk_test_fuzzfuzzfuzzfuzzfuzzfuzzfuzzfuzz';
export const LIVE_KEY = 'sk_live_fuzzfuzzfuzzfuzzfuzzfuzzfuzzfuzz';

export function startService(dataDir: string): Promise<SchedProcess> {
  return startSched({
    dataDir,
    env: {
      SCHED_BOOTSTRAP_TEST_KEY: TEST_KEY,
      SCHED_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
      SCHED_LOG_LEVEL: 'info',
      SCHED_ROLE: 'api',
    },
  });
}
