/** Tests what the inbox page uses over HTTP: its stream, its commands, and who may send them. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_TEST_KEY } from '#src/app/dev/keys.ts';
import { startInThread } from '#test/process/run-command.ts';
import { type RunningDev, startDevInThread } from './dev-in-thread.ts';
import { openStream, type ReceivedEvent } from './event-stream.ts';

const STREAMS_MAX = 32;
const ARRIVALS_MAX = 200;
/** Generous, because the machine is shared with other tests. */
const WAIT_MS_MAX = 60_000;
const JSON_TYPE = { 'content-type': 'application/json' };

let dev: RunningDev;

beforeAll(async () => {
  dev = await startDevInThread({ '--log-level': 'info' });
});
afterAll(() => dev[Symbol.asyncDispose]());

const arrive = (path: string) => fetch(`${dev.hook}/${path}`, { method: 'POST', body: path });
const pathsOf = (events: readonly ReceivedEvent[]) =>
  events.flatMap(({ data }) => data.arrival?.target ?? []);

/** Sends what fetch cannot: any Host header, and a path that is not normalised. */
function ask(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, unknown>> }> {
  return new Promise((resolve, reject) => {
    const asked = request(dev.url, { path, method, headers }, (answer) => {
      answer.destroy();
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

describe('the stream', () => {
  test('sends a page that reconnects what it has missed, and nothing twice', async () => {
    await arrive('first');
    using before = await openStream(dev.url);
    await before.arrival('/inbox/hook/first');
    const { id } = await before.find(({ data }) => data.arrival?.target === '/inbox/hook/first');
    before[Symbol.dispose]();
    await arrive('second');
    await arrive('third');

    using reconnected = await openStream(dev.url, { headers: { 'last-event-id': id } });
    using opened = await openStream(dev.url, { seen: id });
    using both = await openStream(dev.url, { headers: { 'last-event-id': id }, seen: 'older-1' });
    for (const back of [reconnected, opened, both]) {
      await back.arrival('/inbox/hook/third');
      expect(back.events[0]).toMatchObject({ name: 'hello', data: { isNew: false } });
      expect(pathsOf(back.events)).toEqual(['/inbox/hook/second', '/inbox/hook/third']);
      expect(new Set(back.events.map((event) => event.id)).size).toBe(back.events.length);
    }
  });

  test.each(['', '17-5', 'nonsense', `${'9'.repeat(400)}-1`])(
    'sends everything to a page that has seen another run: %s',
    async (lastEventId) => {
      await arrive('any');
      using stream = await openStream(dev.url, { headers: { 'last-event-id': lastEventId } });
      await stream.arrival('/inbox/hook/any');
      expect(stream.events[0]).toMatchObject({ name: 'hello', data: { isNew: true } });
      expect(pathsOf(stream.events)).toContain('/inbox/hook/first');
    },
  );

  test('reports which arrivals were removed by a clear', async () => {
    await arrive('to-be-cleared');
    using stream = await openStream(dev.url);
    const { number } = await stream.arrival('/inbox/hook/to-be-cleared');
    await fetch(`${dev.url}/inbox/clear`, { method: 'POST', headers: JSON_TYPE, body: '{}' });
    const { data } = await stream.find(({ name }) => name === 'cleared');
    expect(data.first).toBe(number + 1);
    const gone = await fetch(`${dev.url}/inbox/arrivals/${number}`);
    expect([gone.status, await gone.json()]).toEqual([200, null]);
  });

  test('sends all kept arrivals at once, even with very long paths', async () => {
    // A quote is the allowed character that becomes longest in JSON.
    const path = `/inbox/hook/${'"'.repeat(15_000)}`;
    for (let count = 0; count < ARRIVALS_MAX; count++) {
      expect(await ask('POST', path, {})).toMatchObject({ status: 200 });
    }
    await arrive('last');
    using stream = await openStream(dev.url);
    const { number } = await stream.arrival('/inbox/hook/last');
    expect(stream.events.filter(({ name }) => name === 'arrival')).toHaveLength(ARRIVALS_MAX);
    const { arrival } = stream.events[1]?.data ?? {};
    expect(arrival?.target).toBe(`${path.slice(0, 511)}…`);
    const details = await fetch(`${dev.url}/inbox/arrivals/${number - 1}`);
    expect(await details.json()).toMatchObject({ target: path });
  });

  test('is limited to 32 open pages', async () => {
    const streams = await Promise.all(Array.from({ length: STREAMS_MAX + 1 }, () => openStream(dev.url)));
    const refused = await Promise.race(streams.map(async (stream) => stream.ended.then(() => stream)));
    expect(refused.events).toMatchObject([{ name: 'full' }]);
    const others = streams.filter((stream) => stream !== refused);
    await Promise.all(others.map((stream) => stream.find(({ name }) => name === 'hello')));
    // A closed stream makes space for another.
    others[0]?.[Symbol.dispose]();
    await others[0]?.ended;
    await expect
      .poll(
        async () => {
          using again = await openStream(dev.url);
          return (await again.find(() => true)).name;
        },
        { timeout: WAIT_MS_MAX },
      )
      .toBe('hello');
    for (const stream of streams) stream[Symbol.dispose]();
  });
});

describe('the inbox', () => {
  const elsewhere = ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', '10.0.0.1:8080'];

  test.each(elsewhere)('refuses a host name that is not of this machine: %s', async (host) => {
    for (const path of [
      '/inbox',
      '/inbox/events',
      '/inbox/assets/none.js',
      '/inbox/arrivals/1',
      '/v1/schedules',
      '/docs',
    ]) {
      const headers = { host, authorization: `Bearer ${DEV_TEST_KEY}` };
      expect(await ask('GET', path, headers), path).toMatchObject({ status: 403 });
    }
    expect(await ask('POST', '/inbox/hook/anyone', { host })).toMatchObject({ status: 200 });
  });

  test.each(['127.0.0.1', '127.0.0.1:9', 'localhost:9', 'LOCALHOST', '[::1]:9'])(
    'accepts a host name of this machine with any port: %s',
    async (host) => {
      expect(await ask('GET', '/inbox', { host })).toMatchObject({ status: 200 });
    },
  );

  test('answers HEAD for its page', async () => {
    expect(await ask('HEAD', '/inbox', {})).toMatchObject({ status: 200 });
  });

  test.each([
    ['the origin of another site', { ...JSON_TYPE, origin: 'https://evil.example' }],
    ['the origin of another port', { ...JSON_TYPE, origin: 'http://127.0.0.1:1' }],
    ['an opaque origin', { ...JSON_TYPE, origin: 'null' }],
    ['a cross-site fetch', { ...JSON_TYPE, 'sec-fetch-site': 'cross-site' }],
    ['a same-site fetch from another port', { ...JSON_TYPE, 'sec-fetch-site': 'same-site' }],
    ['a content type that a form can send', { 'content-type': 'text/plain' }],
    ['no content type', {}],
    ['a content type that only starts like JSON', { 'content-type': 'application/jsonp' }],
  ])('refuses a command with %s', async (_name, headers) => {
    for (const path of ['/inbox/answer', '/inbox/clear']) {
      expect(await ask('POST', path, headers, '{"answer":"500"}')).toMatchObject({ status: 403 });
    }
    expect((await arrive('still')).status).toBe(200);
  });

  test('accepts a command of the page', async () => {
    const headers = { ...JSON_TYPE, origin: dev.url, 'sec-fetch-site': 'same-origin' };
    expect(await ask('POST', '/inbox/answer', headers, '{"answer":"200"}')).toMatchObject({ status: 200 });
  });

  test.each([
    '',
    '[]',
    '{',
    '{"answer":200}',
    '{"answer":"404"}',
    '{"answer":"500","times":0}',
    '{"answer":"500","times":101}',
    '{"answer":"500","times":"1"}',
  ])('refuses an invalid command: %s', async (body) => {
    expect(await ask('POST', '/inbox/answer', JSON_TYPE, body)).toMatchObject({ status: 400 });
  });

  test('protects its pages with security headers', async () => {
    for (const path of ['/inbox', '/inbox/', '/inbox/assets/none.js', '/inbox/events']) {
      const { headers } = await ask('GET', path, {});
      expect(headers, path).toMatchObject({
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; script-src 'self'; (?!.*unsafe).*form-action 'none'/,
        ),
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      });
    }
  });

  test('does not exist in `sched serve`', async () => {
    await using sched = await startInThread();
    for (const path of ['/inbox', '/inbox/hook', '/inbox/events']) {
      expect((await fetch(`${sched.url}${path}`)).status).toBe(404);
    }
  });
});

test('requests to the inbox are neither logged nor measured', async () => {
  await fetch(`${dev.url}/v1/schedules`, { headers: { authorization: `Bearer ${DEV_TEST_KEY}` } });
  const metrics = await (await fetch(`${dev.url}/metrics`)).text();
  expect(metrics).toContain('route="/v1/schedules"');
  expect(metrics).not.toContain('/inbox');
  await expect.poll(() => dev.output.stderr).toContain('"route":"/metrics"');
  expect(dev.output.stderr).not.toContain('/inbox');
});
