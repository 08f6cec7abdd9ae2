/** On a real server, since what is held back is its connections. */
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
  LargeBodies,
  SMALL_BODY_BYTES_MAX,
} from './large-bodies.ts';

/** More requests than the budget has room for, of one customer or of all. */
const TOO_MANY = ARRIVING_BYTES_MAX / BODY_BYTES_MAX + 8;
/** One customer may hold two thirds. */
const SHARE = Math.ceil((TOO_MANY - 8) * (2 / 3));
/** The longest bodies of one customer that are worked on at a time. */
const BEGUN = 3;
const LARGE = 'x'.repeat(SMALL_BODY_BYTES_MAX + 1);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Answers with what it was sent; the path is the customer's name. `/slow` is answered when it is let. */
async function openServer() {
  const deadlines = new Set<() => void>();
  const timers: Timers & Stopwatch = {
    elapsed: () => systemTimers.elapsed(),
    after(ms, act) {
      if (ms < ARRIVAL_MS_MAX) return systemTimers.after(ms, act);
      // A request that waits for its admission is never refused for having waited too long.
      if (ms > ARRIVAL_MS_MAX) return () => {};
      deadlines.add(act);
      return () => void deadlines.delete(act);
    },
  };
  const bodies = new LargeBodies(timers);
  const pause = () => new Promise<void>((resolve) => void timers.after(0, resolve));
  const server = Fastify({ bodyLimit: BODY_BYTES_MAX });
  const { promise: released, resolve: letGo } = Promise.withResolvers<void>();
  const started = { count: 0 };
  const carriedOut = { count: 0 };
  const requests: FastifyRequest[] = [];
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  server.addHook('onRequest', async (request, reply) => {
    started.count++;
    await bodies.admit(request, reply, request.url);
  });
  server.addHook('preParsing', (request, _reply, payload, done) =>
    done(null, bodies.arriving(request, payload)),
  );
  server.post('/:customer', (request) => {
    requests.push(request);
    return bodies.carryOut(request, request.url, pause, async () => {
      carriedOut.count++;
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
    letGo();
    for (const socket of sockets) socket.destroy();
    await server.close();
  });
  const arrived = async (count: number) => {
    await expect.poll(() => started.count, { timeout: 30_000, interval: 5 }).toBe(count);
  };
  const post = async (customer: string, body: string) =>
    (await fetch(`${url}/${customer}`, { method: 'POST', body, headers: { 'content-type': 'a/b' } })).text();
  /** Lets the time go by in which what was admitted had to arrive. */
  const passDeadlines = () => {
    for (const act of deadlines) act();
  };
  return { server, open, arrived, post, letGo, carriedOut, requests, deadlines, passDeadlines };
}

/** A request whose body does not come to its end. */
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

/** A request that does not say how long its body is. Without an end it goes on. */
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

/** Everything that is answered until the connection closes. */
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
  it('is answered, small ones beside bodies that never arrive, and large ones of others', async () => {
    const { open, arrived, post } = await openServer();
    for (let i = 0; i < TOO_MANY; i++) open(...unfinished('greedy'));
    await arrived(TOO_MANY);
    expect(await post('greedy', 'small')).toBe('5');
    expect(await post('other', LARGE)).toBe(`${LARGE.length}`);
  });

  it('waits for those that never arrive until they are gone', async () => {
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
  it('is let go when it has been carried out, whenever its answer is taken', async () => {
    const { post, requests } = await openServer();
    expect(await post('a', LARGE)).toBe(`${LARGE.length}`);
    expect(requests.map(({ body }) => body)).toEqual([undefined]);
  });

  it('is let go when its client goes away while it waits for its turn', async () => {
    const { open, carriedOut, requests } = await openServer();
    const clients = Array.from({ length: BEGUN + 1 }, () => open(...whole('slow')));
    await expect.poll(() => requests.length, { timeout: 30_000, interval: 5 }).toBe(BEGUN + 1);
    await expect.poll(() => carriedOut.count, { timeout: 30_000, interval: 5 }).toBe(BEGUN);
    for (const client of clients) client.destroy();
    const held = () => requests.filter(({ body }) => body !== undefined).length;
    await expect.poll(held, { timeout: 30_000, interval: 5 }).toBe(BEGUN);
    expect(carriedOut.count).toBe(BEGUN);
  });
});

describe('a body that does not say how long it is', () => {
  it('never waits while it is small, and waits for the others once it is large', async () => {
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

  it('holds nothing while it is small, and counts as the longest once it is large', async () => {
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
    ['and was announced', unfinished('greedy')],
    ['and was not announced', chunked('greedy', LARGE, '')],
  ])('%s is cut off, and the next has its bytes', async (_what, lines) => {
    const { open, post, deadlines, passDeadlines } = await openServer();
    const senders = Array.from({ length: SHARE }, () => open(...lines));
    await expect.poll(() => deadlines.size, { timeout: 30_000, interval: 5 }).toBe(SHARE);
    const answer = post('greedy', LARGE);
    const closed = senders.map((sender) => once(sender, 'close'));
    passDeadlines();
    await Promise.all(closed);
    expect(await answer).toBe(`${LARGE.length}`);
  });

  it('is not cut off when it has arrived, however long it is worked on', async () => {
    const { post, letGo, carriedOut, deadlines, passDeadlines } = await openServer();
    const answer = post('slow', LARGE);
    await expect.poll(() => carriedOut.count, { timeout: 30_000, interval: 5 }).toBe(1);
    expect(deadlines.size).toBe(1);
    passDeadlines();
    letGo();
    expect(await answer).toBe(`${LARGE.length}`);
    expect(deadlines.size).toBe(0);
  });
});

describe('clients that go away give back what they held', () => {
  it.each([
    ['while they send or wait', unfinished('a'), 1],
    [
      'behind a request that is still being answered',
      [...HANGING.slice(0, -1), `x${unfinished('a').join('\r\n')}`],
      2,
    ],
    [
      'after a body that was too short',
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
