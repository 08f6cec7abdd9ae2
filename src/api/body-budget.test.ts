/** Uses a real server, because the budget works on connections. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Fastify, { type FastifyRequest } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { systemTimers } from '#src/system/timers.ts';
import {
  ARRIVAL_MS_MAX,
  ARRIVING_BYTES_MAX,
  BODY_BYTES_MAX,
  BodyBudget,
  SMALL_BODY_BYTES_MAX,
} from './body-budget.ts';

/** More requests than fit into the budget. */
const TOO_MANY = ARRIVING_BYTES_MAX / BODY_BYTES_MAX + 8;
/** The number that one customer may hold, which is two thirds. */
const SHARE = Math.ceil((TOO_MANY - 8) * (2 / 3));
/** The number of longest bodies of one customer that are processed at a time. */
const PROCESSED = 3;
const LARGE = 'x'.repeat(SMALL_BODY_BYTES_MAX + 1);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Answers with the size of the body. The path is the customer. `/slow` is answered after `release`. */
async function openServer() {
  const deadlines = new Set<() => void>();
  const timers: Timers & Stopwatch = {
    elapsed: () => systemTimers.elapsed(),
    after(ms, act) {
      if (ms < ARRIVAL_MS_MAX) return systemTimers.after(ms, act);
      // A request is never refused for waiting too long.
      if (ms > ARRIVAL_MS_MAX) return () => {};
      deadlines.add(act);
      return () => void deadlines.delete(act);
    },
  };
  const bodies = new BodyBudget(timers);
  const pause = () => new Promise<void>((resolve) => void timers.after(0, resolve));
  const server = Fastify({ bodyLimit: BODY_BYTES_MAX });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const started = { count: 0 };
  const processed = { count: 0 };
  const requests: FastifyRequest[] = [];
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  server.addHook('onRequest', async (request, reply) => {
    started.count++;
    await bodies.admit(request, reply, request.url);
  });
  server.addHook('preParsing', (request, _reply, payload, done) =>
    done(null, bodies.limitedBody(request, payload)),
  );
  server.post('/:customer', (request) => {
    requests.push(request);
    return bodies.process(request, request.url, pause, async () => {
      processed.count++;
      if (request.url === '/slow') await released;
      return `${(request.body as Buffer).length}`;
    });
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  const sockets: Socket[] = [];
  const open = (...lines: readonly string[]): Socket => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(lines.join('\r\n'));
    sockets.push(socket);
    return socket;
  };
  closing.push(async () => {
    release();
    for (const socket of sockets) socket.destroy();
    await server.close();
  });
  const arrived = async (count: number) => {
    await expect.poll(() => started.count, { timeout: 30_000, interval: 5 }).toBe(count);
  };
  const post = async (customer: string, body: string) =>
    (await fetch(`${url}/${customer}`, { method: 'POST', body, headers: { 'content-type': 'a/b' } })).text();
  /** Fires the timers of all bodies that have not arrived in time. */
  const expireDeadlines = () => {
    for (const act of deadlines) act();
  };
  return { server, open, arrived, post, release, processed, requests, deadlines, expireDeadlines };
}

/** A request whose body never ends. */
function unfinished(customer: string): readonly string[] {
  return [
    `POST /${customer} HTTP/1.1`,
    'Host: a',
    'Content-Type: a/b',
    `Content-Length: ${BODY_BYTES_MAX}`,
    '',
    'some',
  ];
}

/** A request with the longest body. */
function whole(customer: string): readonly string[] {
  return [...unfinished(customer).slice(0, -1), 'x'.repeat(BODY_BYTES_MAX)];
}

/** A request without a Content-Length. With an empty `end` the body never ends. */
function chunked(customer: string, body: string, end: '0\r\n\r\n' | '' = '0\r\n\r\n'): readonly string[] {
  return [
    `POST /${customer} HTTP/1.1`,
    'Host: a',
    'Content-Type: a/b',
    'Transfer-Encoding: chunked',
    'Connection: close',
    '',
    body.length.toString(16),
    body,
    end,
  ];
}

/** Reads the body of the answer until the connection closes. */
async function answerOn(socket: Socket): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of socket.setEncoding('utf8')) pieces.push(String(piece));
  return pieces.join('').split('\r\n\r\n')[1] ?? '';
}

const HANGING = [
  'POST /slow HTTP/1.1',
  'Host: a',
  'Content-Type: a/b',
  'Content-Length: 1',
  '',
  'x',
] as const;

describe('a large body', () => {
  it('of a customer that never sends it delays neither small bodies nor large ones of other customers', async () => {
    const { open, arrived, post } = await openServer();
    for (let i = 0; i < TOO_MANY; i++) open(...unfinished('greedy'));
    await arrived(TOO_MANY);
    expect(await post('greedy', 'small')).toBe('5');
    expect(await post('other', LARGE)).toBe(`${LARGE.length}`);
  });

  it('waits until earlier bodies that never arrive are disconnected', async () => {
    const { open, arrived, post } = await openServer();
    const senders = Array.from({ length: SHARE }, () => open(...unfinished('greedy')));
    await arrived(SHARE);
    let isAnswered = false;
    const answer = post('greedy', LARGE).then((text) => {
      isAnswered = true;
      return text;
    });
    await arrived(SHARE + 1);
    expect(await post('greedy', 'small')).toBe('5');
    expect(isAnswered).toBe(false);
    for (const sender of senders) sender.destroy();
    expect(await answer).toBe(`${LARGE.length}`);
  });
});

describe('a large body that has arrived', () => {
  it('is freed when it was processed, even if its answer is not read yet', async () => {
    const { post, requests } = await openServer();
    expect(await post('a', LARGE)).toBe(`${LARGE.length}`);
    expect(requests.map(({ body }) => body)).toEqual([undefined]);
  });

  it('is freed when its client disconnects while it waits', async () => {
    const { open, processed, requests } = await openServer();
    const clients = Array.from({ length: PROCESSED + 1 }, () => open(...whole('slow')));
    await expect.poll(() => requests.length, { timeout: 30_000, interval: 5 }).toBe(PROCESSED + 1);
    await expect.poll(() => processed.count, { timeout: 30_000, interval: 5 }).toBe(PROCESSED);
    for (const client of clients) client.destroy();
    const held = () => requests.filter(({ body }) => body !== undefined).length;
    await expect.poll(held, { timeout: 30_000, interval: 5 }).toBe(PROCESSED);
    expect(processed.count).toBe(PROCESSED);
  });
});

describe('a body without a Content-Length', () => {
  it('never waits while it is small, and waits for the budget when it is large', async () => {
    const { open, arrived, post } = await openServer();
    const senders = Array.from({ length: SHARE }, () => open(...unfinished('greedy')));
    await arrived(SHARE);
    expect(await answerOn(open(...chunked('greedy', 'small')))).toBe('5');
    let isAnswered = false;
    const answer = answerOn(open(...chunked('greedy', LARGE))).then((text) => {
      isAnswered = true;
      return text;
    });
    await arrived(SHARE + 2);
    expect(await post('greedy', 'small')).toBe('5');
    expect(isAnswered).toBe(false);
    for (const sender of senders) sender.destroy();
    expect(await answer).toBe(`${LARGE.length}`);
  });

  it('holds nothing while it is small, and counts as the longest when it is large', async () => {
    const { open, arrived, deadlines } = await openServer();
    for (let i = 0; i < TOO_MANY; i++) open(...chunked('a', 'some', ''));
    await arrived(TOO_MANY);
    expect(deadlines.size).toBe(0);
    for (let i = 0; i < TOO_MANY; i++) open(...chunked('a', LARGE, ''));
    await expect.poll(() => deadlines.size, { timeout: 30_000, interval: 5 }).toBe(SHARE);
  });
});

describe('a large body that has not arrived in time', () => {
  it.each([
    ['with a Content-Length', unfinished('greedy')],
    ['without a Content-Length', chunked('greedy', LARGE, '')],
  ])('%s is disconnected, and the next one gets its bytes', async (_what, lines) => {
    const { open, post, deadlines, expireDeadlines } = await openServer();
    const senders = Array.from({ length: SHARE }, () => open(...lines));
    await expect.poll(() => deadlines.size, { timeout: 30_000, interval: 5 }).toBe(SHARE);
    const answer = post('greedy', LARGE);
    const closed = senders.map((sender) => once(sender, 'close'));
    expireDeadlines();
    await Promise.all(closed);
    expect(await answer).toBe(`${LARGE.length}`);
  });

  it('is not disconnected if it has arrived, however long it is processed', async () => {
    const { post, release, processed, deadlines, expireDeadlines } = await openServer();
    const answer = post('slow', LARGE);
    await expect.poll(() => processed.count, { timeout: 30_000, interval: 5 }).toBe(1);
    expect(deadlines.size).toBe(1);
    expireDeadlines();
    release();
    expect(await answer).toBe(`${LARGE.length}`);
    expect(deadlines.size).toBe(0);
  });
});

describe('clients that disconnect release their bytes', () => {
  it.each([
    ['while they send or wait', unfinished('a'), 1],
    [
      'behind a request that is not answered yet',
      [...HANGING.slice(0, -1), `x${unfinished('a').join('\r\n')}`],
      2,
    ],
    [
      'after a body that is too short',
      [...unfinished('a').slice(0, 3), 'Content-Length: 900000', '', 'x'],
      1,
    ],
  ])('%s', async (_when, lines, requests) => {
    const { open, arrived, post } = await openServer();
    const senders = Array.from({ length: TOO_MANY }, () => open(...lines));
    await arrived(TOO_MANY * requests);
    for (const sender of senders) {
      sender.destroy();
      await once(sender, 'close');
    }
    const answers = Array.from({ length: TOO_MANY }, () => post('a', LARGE));
    expect(new Set(await Promise.all(answers))).toEqual(new Set([`${LARGE.length}`]));
  });
});
