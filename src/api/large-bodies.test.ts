/** On a real server, since what is held back is its connections. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { systemTimers } from '#src/system/timers.ts';
import { ARRIVING_BYTES_MAX, BODY_BYTES_MAX, LargeBodies, SMALL_BODY_BYTES_MAX } from './large-bodies.ts';

/** More requests than the budget has room for, of one customer or of all. */
const TOO_MANY = ARRIVING_BYTES_MAX / BODY_BYTES_MAX + 8;
/** What one customer may hold: two thirds. */
const SHARE = Math.ceil((TOO_MANY - 8) * (2 / 3));
const LARGE = 'x'.repeat(SMALL_BODY_BYTES_MAX + 1);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Answers with what it was sent; the path is the customer's name. `/slow` is answered when it is let. */
async function openServer() {
  const bodies = new LargeBodies(systemTimers);
  const server = Fastify({ bodyLimit: BODY_BYTES_MAX });
  const { promise: released, resolve: letGo } = Promise.withResolvers<void>();
  const started = { count: 0 };
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  server.addHook('onRequest', async (request, reply) => {
    started.count++;
    await bodies.admit(request, reply, request.url);
  });
  server.post('/:customer', (request) =>
    bodies.carryOut(request, request.url, async () => {
      if (request.url === '/slow') await released;
      return `${(request.body as Buffer).length}`;
    }),
  );
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
  return { server, open, arrived, post, letGo };
}

/** A request whose body does not come to its end. */
function unfinished(customer: string): readonly string[] {
  return [
    `POST /${customer} HTTP/1.1`,
    'Host: a',
    'Content-Type: a/b',
    'Transfer-Encoding: chunked',
    '',
    '4',
    'some',
    '',
  ];
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
