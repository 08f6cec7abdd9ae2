/** `/` answers a person with a page and a program with JSON. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_TEST_KEY } from '#src/app/dev/keys.ts';
import { type RunningDev, startDevInThread } from '#test/inbox/dev-in-thread.ts';
import { type ServiceInThread, startInThread } from '#test/process/run-command.ts';
import { Api } from './client.ts';
import { expectError } from './expectations.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const LINKS = {
  api: '/v1',
  reference: '/docs',
  openapi: '/openapi.json',
  dashboard: '/dashboard',
  health: '/healthz',
  readiness: '/readyz',
};

let sched: ServiceInThread;
let dev: RunningDev;
const api = Api.at(() => sched.url);

beforeAll(async () => {
  [sched, dev] = await Promise.all([startInThread(), startDevInThread()]);
});
afterAll(() => Promise.all([sched[Symbol.asyncDispose](), dev[Symbol.asyncDispose]()]));

const pageOf = async (url: string, headers: Readonly<Record<string, string>> = {}) =>
  (await Api.at(() => url).send('GET', '/', { headers: { accept: BROWSER, ...headers } })).text;
const commandIn = (page: string) =>
  (/<pre id="command">([^<]*)<\/pre>/.exec(page)?.[1] ?? '').replaceAll('&quot;', '"');
const hrefsIn = (page: string) => [...page.matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href);

describe('the answer', () => {
  test.each([BROWSER, 'text/html', 'application/json, Text/HTML;level=1;q=0.1'])(
    'is a page for a request that accepts %s',
    async (accept) => {
      const { status, headers, text } = await api.send('GET', '/', { headers: { accept } });
      expect([status, headers['content-type'], headers.vary]).toEqual([
        200,
        'text/html; charset=utf-8',
        'Accept',
      ]);
      expect(text).toMatch(/^<!doctype html>/);
    },
  );

  test.each(['*/*', 'application/json', '', 'text/*', 'text/html;q=0, application/json', 'x-text/html'])(
    'is JSON for a request that accepts %j',
    async (accept) => {
      const { status, headers, json } = await api.send('GET', '/', { headers: { accept } });
      expect([status, headers['content-type'], headers.vary]).toEqual([
        200,
        'application/json; charset=utf-8',
        'Accept',
      ]);
      expect(json).toEqual({ name: 'sched', version: expect.stringMatching(/^\d+\.\d+\.\d+/), links: LINKS });
    },
  );

  test('to HEAD has the headers and no body', async () => {
    const { status, headers, text } = await api.send('HEAD', '/', { headers: { accept: BROWSER } });
    expect([status, headers['content-type'], text]).toEqual([200, 'text/html; charset=utf-8', '']);
  });

  test('is 404 for every other method and path', async () => {
    const html = { headers: { accept: BROWSER } };
    for (const [method, path] of [
      ['POST', '/'],
      ['DELETE', '/'],
      ['GET', '/index.html'],
      ['GET', '//'],
    ] as const) {
      expectError(await api.send(method, path, html), 404, 'not_found');
    }
  });
});

describe('the page', () => {
  test('allows its own script and style, and nothing else', async () => {
    const { headers } = await api.send('GET', '/', { headers: { accept: BROWSER } });
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-\S+'; style-src 'sha256-\S+'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
  });

  test('of a service names no key and no inbox, and says how to make a key', async () => {
    const page = await pageOf(sched.url);
    expect(commandIn(page)).toContain(`curl '${sched.url}/v1/schedules'`);
    expect(commandIn(page)).toContain('Bearer sk_test_YOUR_KEY');
    expect(page).toContain('sched key create');
    expect(page).not.toContain('inbox');
    for (const key of [sched.testKey, sched.liveKey, DEV_TEST_KEY]) expect(page).not.toContain(key);
  });

  test('of sched dev has a command that works as it is', async () => {
    const page = await pageOf(dev.url);
    expect(dev.output.stdout).toContain(commandIn(page));
    expect(new Set(hrefsIn(page))).toEqual(
      new Set(['/inbox', '/dashboard', '/docs', '/openapi.json', '/healthz', '/readyz']),
    );
  });

  test('links only to pages that answer', async () => {
    for (const url of [sched.url, dev.url]) {
      for (const href of hrefsIn(await pageOf(url))) {
        const { status } = await fetch(new URL(href ?? '', url));
        // Without a build, the dashboard says so.
        expect([href, status]).toEqual([href, href === '/dashboard' ? expect.toBeOneOf([200, 503]) : 200]);
      }
    }
  });

  test('uses the address of the reader, who may be behind TLS or use a forwarded port', async () => {
    const behindTls = { host: 'sched.example.com', 'x-forwarded-proto': 'https' };
    expect(commandIn(await pageOf(sched.url, behindTls))).toContain(
      "curl 'https://sched.example.com/v1/schedules'",
    );
    const command = commandIn(await pageOf(dev.url, { host: 'localhost:9999' }));
    expect(command).toContain("curl 'http://localhost:9999/v1/schedules'");
    // The service itself cannot use the forwarded port.
    expect(command).toContain(`"endpoint":"${dev.hook}"`);
  });

  test.each(["x'$(id)'", `${'x'.repeat(400)}.example`])(
    'never repeats a host that is not a host: %s',
    async (host) => {
      const page = await pageOf(sched.url, { host });
      expect(page).not.toContain(host);
      expect(commandIn(page)).toContain(`curl '${sched.url}/v1/schedules'`);
    },
  );

  test.each(['x"><script>alert(1)</script>', 'a b'])('is not shown to a request for %s', async (host) => {
    const answer = await api.send('GET', '/', { headers: { accept: BROWSER, host } });
    expectError(answer, 400, 'invalid_request');
  });

  test('links to the address of the dashboard, if it has one of its own', async () => {
    await using other = await startInThread({
      env: { SCHED_PUBLIC_URL: 'https://a.example,https://b.example' },
    });
    expect(hrefsIn(await pageOf(other.url))).toContain('https://a.example/dashboard');
  });
});
