/** Posts the request of a job, for the contenders that have no HTTP client: the limit and the peers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'undici';
import type { Job } from './contender.ts';

/** This is also the concurrency of the peers, so that no job waits for a connection. */
export const CONNECTIONS_MAX = 64;
const KEEP_ALIVE_MS = 60_000;

export const CA_FILE = join(import.meta.dirname, '../test/certificates/ca.pem');
export const BODY = '{"n":1}';

export function headersOf({ number, due }: Job): Readonly<Record<string, string>> {
  return { 'X-Due': String(due), 'X-Number': String(number) };
}

const agent = new Agent({
  connect: { ca: readFileSync(CA_FILE) },
  connections: CONNECTIONS_MAX,
  keepAliveTimeout: KEEP_ALIVE_MS,
});

export async function post(job: Job): Promise<void> {
  const { origin, pathname } = new URL(job.url);
  const { statusCode, body } = await agent.request({
    origin,
    path: pathname,
    method: 'POST',
    headers: { ...headersOf(job), 'content-type': 'application/json' },
    body: BODY,
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`A request was answered ${statusCode}.`);
}
