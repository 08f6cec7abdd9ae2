/**
 * The API load of one hostile customer, in a process with a lower priority than the service. Every client sends its
 * next request as soon as the last one is answered, from one instant to another.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import type { Listed } from './api.ts';
import { type Calling, LARGE_BODY } from './customers.ts';
import type { LoadCommand, LoadMessage } from './loads.ts';

/** Large creates fill the disk, so they end after this number. */
const CREATES_MAX = 5_000;
const REFUSED_FROM = 400;
const FAILED_FROM = 500;
const FAILURE_PAUSE_MS = 50;
const ANSWER_MS_MAX = 120_000;
const FILTERS = ['metadata[a]=b&state=paused', 'metadata[left]=1&metadata[right]=1'];

/** A client makes one request after the other. Its promise resolves after its last request. */
type Client = (call: Call, number: number) => Promise<void>;
/** Resolves with null if the service did not answer, or answered with an error of its own. */
type Call = (method: 'GET' | 'POST', path: string, body?: Buffer) => Promise<unknown>;

const agent = new Agent({ headersTimeout: ANSWER_MS_MAX, bodyTimeout: ANSWER_MS_MAX });
let answered = 0;
let creates = 0;

const CLIENTS: Readonly<Record<Calling, () => Client>> = {
  filters: () => async (call, number) => {
    for (let n = number; ; n++) await call('GET', `/schedules?${FILTERS[n % FILTERS.length]}`);
  },
  creates: () => {
    const schedule = { endpoint: 'https://bench.invalid/hooks/large', delay: '24h', body: LARGE_BODY };
    const body = Buffer.from(JSON.stringify(schedule));
    return async (call) => {
      while (creates < CREATES_MAX) {
        creates++;
        await call('POST', '/schedules', body);
      }
    };
  },
  cancel: () => async (call) => {
    const [schedule] = idsIn(await call('GET', '/schedules?state=active&limit=1'));
    await call('POST', `/schedules/${schedule}/cancel`);
  },
  lists: () => async (call, number) => {
    const [schedule] = idsIn(await call('GET', '/schedules?limit=1'));
    const [delivery] = idsIn(await call('GET', '/deliveries?limit=1'));
    const lists = [
      '/schedules?',
      '/deliveries?',
      '/endpoints?',
      '/schedules?state=active&',
      '/deliveries?status=scheduled&',
      `/schedules/${schedule}/deliveries?`,
      `/deliveries/${delivery}/attempts?`,
    ];
    for (let n = number; ; n++) await everyPage(call, lists[n % lists.length] ?? '');
  },
};

async function everyPage(call: Call, list: string): Promise<void> {
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = (await call('GET', `${list}limit=100&cursor=${cursor}`)) as Listed | null;
    cursor = page?.next_cursor ?? null;
  }
}

function idsIn(page: unknown): readonly string[] {
  return ((page as Listed | null)?.data ?? []).map(({ id }) => id);
}

async function load({ customer, urls, apiKey, clients, from, until }: LoadCommand): Promise<void> {
  const client = CLIENTS[customer]();
  await sleep(Math.max(from - Date.now(), 0));
  const over = AbortSignal.timeout(Math.max(until - Date.now(), 0));
  setMaxListeners(0, over);
  const callAt = (origin: string): Call => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    return async (method, path, body) => {
      over.throwIfAborted();
      const request = { origin, path: `/v1${path}`, method, headers, body: body ?? null, signal: over };
      const answer = await answerTo(request);
      over.throwIfAborted();
      if (answer !== null && answer.statusCode < REFUSED_FROM) {
        answered++;
        return answer.json;
      }
      // The service may be too busy to answer. An invalid request is a bug of this file.
      if (answer !== null && answer.statusCode < FAILED_FROM) {
        throw new Error(`${method} ${path} was answered ${answer.statusCode}.`);
      }
      await sleep(FAILURE_PAUSE_MS);
      return null;
    };
  };
  const one = async (_: unknown, number: number) => {
    try {
      await client(callAt(urls[number % urls.length] ?? ''), number);
    } catch (error) {
      if (!over.aborted) throw error;
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
}

/** Resolves with null if there is no answer. */
async function answerTo(
  request: Dispatcher.RequestOptions,
): Promise<{ readonly statusCode: number; readonly json: unknown } | null> {
  try {
    const { statusCode, body } = await agent.request(request);
    return { statusCode, json: await body.json() };
  } catch {
    return null;
  }
}

function send(message: LoadMessage): void {
  process.send?.(message);
}

process.on('message', (command: LoadCommand) => {
  load(command).then(
    () => send({ kind: 'done', answered }),
    (error: unknown) => send({ kind: 'failed', why: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
send({ kind: 'ready' });
