/**
 * What one hostile customer asks of the API, in a process that stands back for the service. Every client sends its
 * next request as soon as the last one is answered, from one instant to another.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import type { Listed } from './api.ts';
import { type Asking, LARGE_BODY } from './customers.ts';
import type { LoadMessage, LoadOrder } from './loads.ts';

/** A storm of large creates fills the disk: it ends after so many, whatever time is left. */
const CREATES_MAX = 5_000;
const REFUSED_FROM = 400;
const FAILED_FROM = 500;
const FAILURE_PAUSE_MS = 50;
const ANSWER_MS_MAX = 120_000;
const FILTERS = ['metadata[a]=b&state=paused', 'metadata[left]=1&metadata[right]=1'];

/** A client makes one request after the other. It ends when it has nothing left to ask. */
type Client = (ask: Ask, number: number) => Promise<void>;
/** It answers null where the service did not answer, or could not do it. */
type Ask = (method: 'GET' | 'POST', path: string, body?: Buffer) => Promise<unknown>;

const agent = new Agent({ headersTimeout: ANSWER_MS_MAX, bodyTimeout: ANSWER_MS_MAX });
let answered = 0;
let creates = 0;

const CLIENTS: Readonly<Record<Asking, () => Client>> = {
  filters: () => async (ask, number) => {
    for (let n = number; ; n++) await ask('GET', `/schedules?${FILTERS[n % FILTERS.length]}`);
  },
  creates: () => {
    const schedule = { endpoint: 'https://bench.invalid/hooks/large', delay: '24h', body: LARGE_BODY };
    const body = Buffer.from(JSON.stringify(schedule));
    return async (ask) => {
      while (creates < CREATES_MAX) {
        creates++;
        await ask('POST', '/schedules', body);
      }
    };
  },
  cancel: () => async (ask) => {
    const [schedule] = idsIn(await ask('GET', '/schedules?state=active&limit=1'));
    await ask('POST', `/schedules/${schedule}/cancel`);
  },
  lists: () => async (ask, number) => {
    const [schedule] = idsIn(await ask('GET', '/schedules?limit=1'));
    const [delivery] = idsIn(await ask('GET', '/deliveries?limit=1'));
    const lists = [
      '/schedules?',
      '/deliveries?',
      '/endpoints?',
      '/schedules?state=active&',
      '/deliveries?status=scheduled&',
      `/schedules/${schedule}/deliveries?`,
      `/deliveries/${delivery}/attempts?`,
    ];
    for (let n = number; ; n++) await everyPage(ask, lists[n % lists.length] ?? '');
  },
};

async function everyPage(ask: Ask, list: string): Promise<void> {
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = (await ask('GET', `${list}limit=100&cursor=${cursor}`)) as Listed | null;
    cursor = page?.next_cursor ?? null;
  }
}

function idsIn(page: unknown): readonly string[] {
  return ((page as Listed | null)?.data ?? []).map(({ id }) => id);
}

async function load({ customer, urls, apiKey, clients, from, until }: LoadOrder): Promise<void> {
  const client = CLIENTS[customer]();
  await sleep(Math.max(from - Date.now(), 0));
  const over = AbortSignal.timeout(Math.max(until - Date.now(), 0));
  setMaxListeners(0, over);
  const askAt = (origin: string): Ask => {
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
      // The service may be too busy to answer; what it does not understand is a mistake of this file.
      if (answer !== null && answer.statusCode < FAILED_FROM) {
        throw new Error(`${method} ${path} was answered ${answer.statusCode}.`);
      }
      await sleep(FAILURE_PAUSE_MS);
      return null;
    };
  };
  const one = async (_: unknown, number: number) => {
    try {
      await client(askAt(urls[number % urls.length] ?? ''), number);
    } catch (error) {
      if (!over.aborted) throw error;
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
}

/** It answers null where no answer comes. */
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

function say(message: LoadMessage): void {
  process.send?.(message);
}

process.on('message', (order: LoadOrder) => {
  load(order).then(
    () => say({ kind: 'done', answered }),
    (error: unknown) => say({ kind: 'failed', why: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
say({ kind: 'ready' });
