/** Creates schedules over HTTP, evenly spaced or as fast as the service answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import type { Job } from '../contender.ts';
import { headersOf } from '../post.ts';

/** The service. Creates go round robin to its nodes and its projects. */
export interface CreateTarget {
  readonly urls: readonly string[];
  readonly apiKeys: readonly string[];
}

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
  { urls, apiKeys }: CreateTarget,
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
      const apiKey = apiKeys[n % apiKeys.length] ?? '';
      await create(client, { origin: urls[n % urls.length] ?? '', apiKey, job, text: body });
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return performance.now() - start;
  } finally {
    await client.close();
  }
}

interface Create {
  readonly origin: string;
  readonly apiKey: string;
  readonly job: Job;
  readonly text: string;
}

async function create(client: Agent, { origin, apiKey, job, text }: Create): Promise<void> {
  const { statusCode, body } = await client.request({
    origin,
    path: '/v1/schedules',
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
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
