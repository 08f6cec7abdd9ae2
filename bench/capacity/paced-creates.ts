/** Creates schedules over HTTP, evenly spaced or as fast as the service answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import type { Job } from '../contender.ts';
import { headersOf } from '../post.ts';
import { API_KEY } from '../sched/service.ts';

export interface CreatePlan {
  readonly bodyBytes: number;
  /** Creates in a second. Null is as fast as possible. */
  readonly pace: number | null;
}

const MS_PER_SECOND = 1_000;
const AT_ONCE = 64;
/** A failed attempt is made again after a second. */
const RETRY_POLICY = { max_attempts: 3, base: '1s', factor: 1 };

/** Resolves with the time that it took, when all are stored. */
export async function createAll(
  urls: readonly string[],
  jobs: readonly Job[],
  { bodyBytes, pace }: CreatePlan,
): Promise<number> {
  const client = new Agent({ connections: AT_ONCE });
  const body = 'x'.repeat(bodyBytes);
  const start = performance.now();
  const queue = jobs.entries();
  const worker = async () => {
    for (const [n, job] of queue) {
      if (pace !== null) await sleep(Math.max(0, start + (n * MS_PER_SECOND) / pace - performance.now()));
      await create(client, urls[n % urls.length] ?? '', job, body);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return performance.now() - start;
  } finally {
    await client.close();
  }
}

async function create(client: Agent, origin: string, job: Job, text: string): Promise<void> {
  const { statusCode, body } = await client.request({
    origin,
    path: '/v1/schedules',
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      endpoint: job.url,
      fire_at: new Date(job.due).toISOString(),
      headers: headersOf(job),
      body: text,
      retry_policy: RETRY_POLICY,
    }),
  });
  if (statusCode !== 201) throw new Error(`A create was answered ${statusCode}: ${await body.text()}`);
  await body.dump();
}
