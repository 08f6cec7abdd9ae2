/** The page's side of the inbox, over HTTP: its stream, its orders, and who may give them. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_TEST_KEY } from '#src/app/dev/keys.ts';
import { startSched } from '#test/process/sched-process.ts';
import { type DevProcess, startDev } from './dev-process.ts';
import { openStream, type Told } from './event-stream.ts';

const STREAMS_MAX = 32;
const ARRIVALS_MAX = 200;
const JSON_TYPE = { 'content-type': 'application/json' };

let dev: DevProcess;

beforeAll(async () => {
  dev = await startDev({ args: ['--log-level', 'info'] });
});
afterAll(() => dev[Symbol.asyncDispose]());

const arrive = (path: string) => fetch(`${dev.hook}/${path}`, { method: 'POST', body: path });
const pathsOf = (told: readonly Told[]) => told.flatMap(({ data }) => data.arrival?.target ?? []);

/** What fetch would not send: a Host of one's choice, and a path as it is. */
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
  test('tells a page that comes back what it has missed, and nothing twice', async () => {
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
      expect(back.told[0]).toMatchObject({ name: 'hello', data: { isNew: false } });
      expect(pathsOf(back.told)).toEqual(['/inbox/hook/second', '/inbox/hook/third']);
      expect(new Set(back.told.map((told) => told.id)).size).toBe(back.told.length);
    }
  });

  test.each(['', '17-5', 'nonsense', `${'9'.repeat(400)}-1`])(
    'tells everything to a page that has seen another life: %s',
    async (lastEventId) => {
      await arrive('any');
      using stream = await openStream(dev.url, { headers: { 'last-event-id': lastEventId } });
      await stream.arrival('/inbox/hook/any');
      expect(stream.told[0]).toMatchObject({ name: 'hello', data: { isNew: true } });
      expect(pathsOf(stream.told)).toContain('/inbox/hook/first');
    },
  );

  test('says what is gone when it is cleared', async () => {
    await arrive('to-be-cleared');
    using stream = await openStream(dev.url);
    const { number } = await stream.arrival('/inbox/hook/to-be-cleared');
    await fetch(`${dev.url}/inbox/clear`, { method: 'POST', headers: JSON_TYPE, body: '{}' });
    const { data } = await stream.find(({ name }) => name === 'cleared');
    expect(data.first).toBe(number + 1);
    const gone = await fetch(`${dev.url}/inbox/arrivals/${number}`);
    expect([gone.status, await gone.json()]).toEqual([200, null]);
  });

  test('tells of all that is kept at once, however long their paths are', async () => {
    // Of what a request line may hold, that which JSON makes longest.
    const path = `/inbox/hook/${'"'.repeat(15_000)}`;
    for (let count = 0; count < ARRIVALS_MAX; count++) {
      expect(await ask('POST', path, {})).toMatchObject({ status: 200 });
    }
    await arrive('last');
    using stream = await openStream(dev.url);
    const { number } = await stream.arrival('/inbox/hook/last');
    expect(stream.told.filter(({ name }) => name === 'arrival')).toHaveLength(ARRIVALS_MAX);
    const { arrival } = stream.told[1]?.data ?? {};
    expect(arrival?.target).toBe(`${path.slice(0, 511)}…`);
    const details = await fetch(`${dev.url}/inbox/arrivals/${number - 1}`);
    expect(await details.json()).toMatchObject({ target: path });
  });

  test('is not opened more often than there are pages to show it', async () => {
    const streams = await Promise.all(Array.from({ length: STREAMS_MAX + 1 }, () => openStream(dev.url)));
    const refused = await Promise.race(streams.map(async (stream) => stream.ended.then(() => stream)));
    expect(refused.told).toMatchObject([{ name: 'full' }]);
    const others = streams.filter((stream) => stream !== refused);
    await Promise.all(others.map((stream) => stream.find(({ name }) => name === 'hello')));
    // One that closes makes room.
    others[0]?.[Symbol.dispose]();
    await others[0]?.ended;
    await expect
      .poll(async () => {
        using again = await openStream(dev.url);
        return (await again.find(() => true)).name;
      })
      .toBe('hello');
    for (const stream of streams) stream[Symbol.dispose]();
  });
});

describe('who may speak to it', () => {
  const elsewhere = ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', '10.0.0.1:8080'];

  test.each(elsewhere)('a name that only resolves to this machine may not: %s', async (host) => {
    for (const path of [
      '/inbox',
      '/inbox/events',
      '/inbox/page.js',
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
    'this machine may, by whatever port: %s',
    async (host) => {
      expect(await ask('GET', '/inbox', { host })).toMatchObject({ status: 200 });
    },
  );

  test.each([
    ['the origin of another site', { ...JSON_TYPE, origin: 'https://evil.example' }],
    ['the origin of another port', { ...JSON_TYPE, origin: 'http://127.0.0.1:1' }],
    ['no origin at all', { ...JSON_TYPE, origin: 'null' }],
    ['another site, as the browser says', { ...JSON_TYPE, 'sec-fetch-site': 'cross-site' }],
    ['another port, as the browser says', { ...JSON_TYPE, 'sec-fetch-site': 'same-site' }],
    ['what a form can send', { 'content-type': 'text/plain' }],
    ['no content type', {}],
    ['a content type that only looks like it', { 'content-type': 'application/jsonp' }],
  ])('an order from %s is not taken', async (_name, headers) => {
    for (const path of ['/inbox/answer', '/inbox/clear']) {
      expect(await ask('POST', path, headers, '{"answer":"500"}')).toMatchObject({ status: 403 });
    }
    expect((await arrive('still')).status).toBe(200);
  });

  test('an order of the page is taken', async () => {
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
  ])('an order that cannot be is refused: %s', async (body) => {
    expect(await ask('POST', '/inbox/answer', JSON_TYPE, body)).toMatchObject({ status: 400 });
  });

  test('everything of the page is kept from other pages, and takes nothing from elsewhere', async () => {
    for (const path of ['/inbox', '/inbox/page.js', '/inbox/page.css', '/inbox/icon.svg', '/inbox/events']) {
      const { headers } = await ask('GET', path, {});
      expect(headers, path).toMatchObject({
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; script-src 'self'; (?!.*unsafe)/,
        ),
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      });
    }
  });

  test('a service has no inbox', async () => {
    await using sched = await startSched();
    for (const path of ['/inbox', '/inbox/hook', '/inbox/events']) {
      expect((await fetch(`${sched.url}${path}`)).status).toBe(404);
    }
  });
});

test('what happens in the inbox is no request to the interface: it is neither logged nor measured', async () => {
  await fetch(`${dev.url}/v1/schedules`, { headers: { authorization: `Bearer ${DEV_TEST_KEY}` } });
  const metrics = await (await fetch(`${dev.url}/metrics`)).text();
  expect(metrics).toContain('route="/v1/schedules"');
  expect(metrics).not.toContain('/inbox');
  await expect.poll(() => dev.output.stderr).toContain('"route":"/metrics"');
  expect(dev.output.stderr).not.toContain('/inbox');
});
