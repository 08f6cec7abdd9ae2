/** The dashboard of `sched dev` opens without a password, in a browser on its own machine and nowhere else. */
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { devVariant } from '#src/app/dev/dev.ts';
import { localSignIn } from '#src/app/dev/local-sign-in.ts';
import { readDevSettings } from '#src/app/dev/settings.ts';
import { startService } from '#src/app/service.ts';
import type { PeopleDependencies } from '#src/control/dependencies.ts';
import type { AuditLine, Listed, SessionInfo, UserInfo } from '#src/control/http/contract.ts';
import { systemLog } from '#src/system/log.ts';
import { API, Browser, expectRefused } from '#test/control/browser.ts';
import { PASSWORD } from '#test/control/harness.ts';
import { Api } from '#test/e2e/client.ts';
import { runCommand, startInThread } from '#test/process/run-command.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { type RunningDev, startDevInThread } from './dev-in-thread.ts';

const SRC = join(import.meta.dirname, '../../src');
const OFFER = { local_session: true };

/** Opens the dashboard as its page does. */
async function open(browser: Browser): Promise<SessionInfo> {
  const { status, json } = await browser.post<SessionInfo>('local-session');
  expect(status).toBe(200);
  browser.csrf = json.csrf;
  return json;
}

const at = (url: string, host: string) => new Browser(url, `http://${host}:${new URL(url).port}`);

describe.concurrent('sched dev', () => {
  test('signs in an admin of every project, whose actions are in the audit log', async () => {
    await using dev = await startDevInThread();
    expect(dev.output.stdout).toContain(`  ${dev.url}/dashboard\n`);
    expect(dev.output.stdout).not.toContain('/invite#');
    const browser = new Browser(dev.url);
    expect((await browser.get('whoami')).json).toEqual(OFFER);
    expect(await open(browser)).toMatchObject({
      user: { name: 'sched dev', role: 'admin' },
      projects: [{ name: 'default' }],
      is_dev: true,
    });
    expect((await browser.get('whoami')).json).toMatchObject({ user: { name: 'sched dev' } });
    expect((await browser.post('p/default/test/keys')).status).toBe(201);
    const { json } = await browser.get<Listed<AuditLine>>('audit');
    expect(json.data.map(({ actor, action, outcome, address }) => [actor, action, outcome, address])).toEqual(
      ['key.create', 'session.begin', 'user.create'].map((action) => [
        'sched dev',
        action,
        'done',
        '127.0.0.1',
      ]),
    );
    expect((await browser.post('logout')).status).toBe(200);
    expectRefused(await browser.get('sessions'), 401, 'not_signed_in');
    expectRefused(await browser.signIn('sched dev', ''), 401, 'wrong_login');
  });

  test('makes one user, however many pages open at once', async () => {
    await using dev = await startDevInThread();
    const browsers = Array.from({ length: 5 }, () => new Browser(dev.url));
    const ids = (await Promise.all(browsers.map(open))).map(({ user }) => user.id);
    expect(new Set(ids).size).toBe(1);
    const [browser = expect.fail()] = browsers;
    expect((await browser.get<Listed<UserInfo>>('users')).json.data).toHaveLength(1);
    expect((await browser.get<Listed<unknown>>('invitations')).json.data).toEqual([]);
  });

  test('opens on a second start, also where a person was invited before', async () => {
    const dataDir = temporaryDirectory();
    const flags = { '--data-dir': dataDir };
    let first: SessionInfo;
    {
      await using dev = await startDevInThread(flags);
      first = await open(new Browser(dev.url));
    }
    const { stdout } = await runCommand(['user', 'create', '--role', 'admin', '--json'], { dataDir });
    const token = /#([\w-]{43})/.exec(stdout)?.[1] ?? '';
    await using dev = await startDevInThread(flags);
    const [ada, browser] = [new Browser(dev.url), new Browser(dev.url)];
    expect((await ada.accept(token, 'ada', PASSWORD)).json).toMatchObject({ user: { name: 'ada' } });
    expect((await open(browser)).user).toEqual(first.user);
    expect((await ada.get<SessionInfo>('whoami')).json.user.name).toBe('ada');
    const { json } = await browser.get<Listed<UserInfo>>('users');
    const local = json.data.find(({ name }) => name === 'sched dev') ?? expect.fail();
    expect((await ada.post(`users/${local.id}/remove`)).status).toBe(200);
    expect((await open(browser)).user).toMatchObject({ name: 'sched dev', role: 'admin' });
  });
});

describe('the session without a password', () => {
  let dev: RunningDev;
  beforeAll(async () => {
    dev = await startDevInThread();
  });
  afterAll(() => dev[Symbol.asyncDispose]());

  test('is given under every name of loopback, and under no other name', async () => {
    for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]', '127.0.0.2']) {
      await open(at(dev.url, host));
    }
    await open(new Browser(dev.url, 'http://localhost'));
    for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', '[::2]', '0.0.0.0']) {
      // `sched dev` refuses such a host before the dashboard sees the request.
      const sent = { ...at(dev.url, host).pageHeaders(), host };
      const { status, headers } = await Api.at(() => dev.url).send('POST', `${API}/local-session`, {
        raw: '{}',
        headers: sent,
      });
      expect([host, status, headers['set-cookie']]).toEqual([host, 403, undefined]);
    }
  });

  test('is refused to pages of other sites, and to clients that are not the page', async () => {
    const refused: readonly Readonly<Record<string, string>>[] = [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'http://127.0.0.1:3000', 'sec-fetch-site': 'same-site' },
      { origin: '', 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
      { origin: '', 'sec-fetch-site': '' },
      { 'content-type': 'text/plain' },
    ];
    for (const headers of refused) {
      expectRefused(await new Browser(dev.url).post('local-session', {}, headers), 403, 'bad_origin');
    }
    // A link or an image of another site can only send this.
    expectRefused(await new Browser(dev.url).get('local-session'), 401, 'not_signed_in');
  });

  test.each([
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'X-Forwarded-Port',
    'forwarded',
    'via',
    'x-real-ip',
  ])('is refused to a request that a proxy passed on, as %s says', async (name) => {
    const browser = new Browser(dev.url);
    expectRefused(await browser.post('local-session', {}, { [name]: '127.0.0.1' }), 403, 'not_local');
    expect(browser.cookie).toBeNull();
  });
});

describe('the route itself', () => {
  // The server refuses other names before. This check must hold without it.
  test.each([
    ['127.0.0.1', 'localhost:8080', true],
    ['::1', '[::1]:8080', true],
    ['127.0.0.1', 'evil.example', false],
    ['127.0.0.1', 'localhost, evil.example', false],
    ['192.168.1.7', 'localhost:8080', false],
    [undefined, 'localhost:8080', false],
  ])('judges a connection from %s for the host %s', (remoteAddress, host, isLocal) => {
    const request = { rawHeaders: ['Host', host], socket: { remoteAddress } } as unknown as IncomingMessage;
    const { check = expect.fail() } = localSignIn({} as PeopleDependencies, () => expect.fail());
    if (isLocal) check(request);
    else expect(() => check(request)).toThrow(expect.objectContaining({ code: 'not_local' }));
  });
});

describe.concurrent('sched serve', () => {
  test('never opens without a password, whatever the settings and headers', async () => {
    await using sched = await startInThread({
      env: {
        SCHED_HOST: '127.0.0.1',
        SCHED_BOOTSTRAP_TEST_KEY: 'sk_test_local_development_only',
        SCHED_PUBLIC_URL: 'http://localhost:8080,http://127.0.0.1:8080',
        SCHED_TRUSTED_PROXIES: '127.0.0.0/8',
      },
    });
    for (const origin of ['http://localhost:8080', 'http://127.0.0.1:8080']) {
      const browser = new Browser(sched.url, origin);
      expect((await browser.get('whoami')).json).toBeNull();
      expectRefused(await browser.post('local-session'), 401, 'not_signed_in');
      expectRefused(
        await browser.post('local-session', {}, { 'x-forwarded-for': '127.0.0.1' }),
        401,
        'not_signed_in',
      );
      expect(browser.cookie).toBeNull();
    }
  });

  test('does not contain the route: only the files of sched dev import it', () => {
    const importing = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .filter((file) => /['"][^'"]*local-sign-in\.ts['"]/.test(readFileSync(join(SRC, file), 'utf8')));
    expect(importing).toEqual([join('app', 'dev', 'dev.ts')]);
  });

  test('and no variant without a password listens on an address that others can reach', async () => {
    const { settings } = readDevSettings({ flags: { '--port': '0' }, env: {} }, temporaryDirectory);
    const variant = devVariant(
      { dataDir: null, ignored: [] },
      () => {},
      (_colour, text) => text,
    );
    const io = { print: () => {}, log: systemLog('error') };
    await expect(startService({ ...settings, host: '0.0.0.0' }, io, variant)).rejects.toThrow('loopback');
  });
});
