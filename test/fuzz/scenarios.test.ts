/**
 * Hostile use that single requests do not show: concurrent requests, large lists, and requests cut in two.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ScheduleResource } from '#src/api/contract/resources.ts';
import { Client, inParallel } from '#test/faults/client.ts';
import { type ServiceInThread, startInThread } from '#test/process/run-command.ts';
import { RawConnection } from './raw-connection.ts';

const AT_ONCE = 64;
/** Longer than any answer takes. */
const SILENCE_MS = 3_000;
const PAGE_MAX = 100;
const LARGE_SCHEDULES = 20;
/** A page ends with the item that makes it exceed 2 MiB, and has an envelope. */
const PAGE_CHARACTERS_MAX = 3_200_000;
/** The largest label that fits into a request body. */
const LARGEST_LABEL = 'x'.repeat(1_048_000);

let sched: ServiceInThread;
let client: Client;

beforeAll(async () => {
  sched = await startInThread();
  client = new Client(sched.url, sched.testKey, AT_ONCE);
});

afterAll(async () => {
  client.close();
  await sched[Symbol.asyncDispose]();
});

/** Sends all requests at once, on connections that are already open. */
async function atOnce<T>(send: (i: number) => Promise<T>): Promise<readonly T[]> {
  const all = Array.from({ length: AT_ONCE }, (_, i) => i);
  for (let warmUp = 0; warmUp < 5; warmUp++)
    await Promise.all(all.map(() => client.send('GET', '/v1/schedules')));
  return Promise.all(all.map(send));
}

async function create(path: string, body: object): Promise<ScheduleResource> {
  const { status, text } = await client.send('POST', path, { body: JSON.stringify(body) });
  expect(status).toBe(201);
  return JSON.parse(text) as ScheduleResource;
}

test('concurrent edits of one schedule all succeed, and the last one counts', async () => {
  const { id } = await create('/v1/schedules', { endpoint: 'https://fuzz.invalid/', delay: '24h' });
  const edits = Array.from({ length: AT_ONCE }, (_, i) => ({ ttl: `${i + 1}h` }));
  const answers = await atOnce((i) =>
    client.send('PATCH', `/v1/schedules/${id}`, { body: JSON.stringify(edits[i]) }),
  );
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  const { ttl } = JSON.parse((await client.send('GET', `/v1/schedules/${id}`)).text) as ScheduleResource;
  expect(edits).toContainEqual({ ttl });
});

test('each of many concurrent edits of one profile is a version', async () => {
  const { id } = await create('/v1/endpoints', { url: 'https://fuzz.invalid/' });
  const answers = await atOnce(() => client.send('PATCH', `/v1/endpoints/${id}`, { body: '{}' }));
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  const { version } = JSON.parse((await client.send('GET', `/v1/endpoints/${id}`)).text) as {
    readonly version: number;
  };
  expect(version).toBe(1 + AT_ONCE);
});

test('a page of the largest schedules ends early, and all pages together have every schedule', async () => {
  const schedule = { endpoint: 'https://fuzz.invalid/', delay: '24h', metadata: { large: LARGEST_LABEL } };
  const ids = new Set<string>();
  await inParallel(Array.from({ length: LARGE_SCHEDULES }), 4, async () => {
    ids.add((await create('/v1/schedules', schedule)).id);
  });
  let cursor = '';
  for (let pages = 0; ids.size > 0; pages++) {
    expect(pages).toBeLessThan(LARGE_SCHEDULES);
    const { status, text } = await client.send('GET', `/v1/schedules?limit=${PAGE_MAX}&cursor=${cursor}`);
    expect(status).toBe(200);
    expect(text.length).toBeLessThan(PAGE_CHARACTERS_MAX);
    const page = JSON.parse(text) as { data: ScheduleResource[]; has_more: boolean; next_cursor: string };
    for (const { id } of page.data) ids.delete(id);
    expect(page.has_more || ids.size === 0).toBe(true);
    cursor = page.next_cursor;
  }
});

const PLAIN = '{"endpoint":"https://fuzz.invalid/","delay":"24h"}';

test('a valid request followed by garbage gets its own answer, or none', async () => {
  const connection = new RawConnection(Number(new URL(sched.url).port));
  const head = `POST /v1/schedules HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${sched.testKey}\r\nContent-Length: ${PLAIN.length}\r\n\r\n`;
  const outcome = await connection.exchange([Buffer.from(`${head}${PLAIN}\u0000rubbish\r\n\r\n`)], 'POST');
  connection.close();
  // The client could read an error for the second part as the answer to its create, and would retry it.
  expect(outcome.kind === 'answer' ? outcome.answer.status : 'cut off').toBeOneOf([201, 'cut off']);
});

test('garbage after a refused upgrade is answered, or the connection is closed', async () => {
  const connection = new RawConnection(Number(new URL(sched.url).port), SILENCE_MS);
  const upgrade = 'GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
  expect(await connection.exchange([Buffer.from(upgrade)], 'GET')).toMatchObject({ answer: { status: 200 } });
  const { kind } = await connection.exchange([Buffer.from('\u0000rubbish\r\n\r\n')], 'GET');
  connection.close();
  expect(kind).not.toBe('silence');
});

const BARE: readonly (readonly [name: string, lines: string])[] = [
  ['no Host', 'GET /v1/schedules HTTP/1.1\r\n'],
  ['an unknown expectation', 'GET /v1/schedules HTTP/1.1\r\nHost: x\r\nExpect: the-moon\r\n'],
  ['an id that is far too long', `GET /v1/schedules/${'x'.repeat(5_000)} HTTP/1.1\r\nHost: x\r\n`],
  ['headers that are far too long', `GET /v1/schedules HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n`],
  ['no HTTP', 'rubbish\r\n'],
];

test.each(BARE)('%s: answered in the envelope, with a request id', async (_name, lines) => {
  const connection = new RawConnection(Number(new URL(sched.url).port));
  const outcome = await connection.exchange([Buffer.from(`${lines}\r\n`)], 'GET');
  connection.close();
  if (outcome.kind !== 'answer') throw new Error(outcome.kind);
  const { status, headers, body } = outcome.answer;
  expect(status).toBeLessThan(500);
  expect(JSON.parse(body.toString() || 'null')).toMatchObject({
    error: { request_id: headers.get('sched-request-id') ?? 'a request id' },
  });
});
