/** Sessions: how they begin, how long they last, and how they end. */
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { InvitationInfo, Listed, OpenSession } from '#src/control/http/contract.ts';
import { API, type Browser, expectRefused } from './browser.ts';
import { PASSWORD, useDashboard } from './harness.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const IDLE_MS = 8 * HOUR_MS;
const ABSOLUTE_MS = 7 * 24 * HOUR_MS;

const dashboard = useDashboard();

async function signedIn(name: string): Promise<Browser> {
  const browser = dashboard().browse();
  expect((await browser.signIn(name, PASSWORD)).status).toBe(200);
  return browser;
}

async function expectOver(browser: Browser): Promise<void> {
  expectRefused(await browser.get('sessions'), 401, 'not_signed_in');
  const { status, json } = await browser.get('whoami');
  expect([status, json]).toEqual([200, null]);
}

describe('session fixation', () => {
  test('a token from an attacker is never adopted', async () => {
    const planted = `sched_session=${'x'.repeat(43)}`;
    const victim = dashboard().browse();
    victim.cookie = planted;
    await expectOver(victim);
    expect((await victim.signIn('viewer', PASSWORD)).status).toBe(200);
    expect(victim.cookie).not.toBe(planted);
    const attacker = dashboard().browse();
    attacker.cookie = planted;
    await expectOver(attacker);
  });

  test('signing in gives a new token and ends the presented session', async () => {
    const attacker = await signedIn('viewer');
    const victim = dashboard().browse();
    victim.cookie = attacker.cookie;
    expect((await victim.signIn('operator', PASSWORD)).status).toBe(200);
    expect(victim.cookie).not.toBe(attacker.cookie);
    await expectOver(attacker);
    expect((await victim.get<{ user: { name: string } }>('whoami')).json.user.name).toBe('operator');
  });

  test('the cookie is hidden from scripts and other sites, and has a maximum age', async () => {
    const browser = dashboard().browse();
    const { headers } = await browser.signIn('viewer', PASSWORD);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^sched_session=[\w-]{43}; Path=\/dashboard; HttpOnly; SameSite=Strict; Max-Age=604800$/,
      ),
    ]);
    const host = new URL(dashboard().url).host;
    const secure = await dashboard()
      .browse()
      .signIn('viewer', PASSWORD, { origin: `https://${host}`, 'x-forwarded-proto': 'https' });
    expect(secure.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-sched_session=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=604800$/,
      ),
    ]);
  });
});

describe('the end of a session', () => {
  test('comes after hours without a request', async () => {
    const idle = await signedIn('viewer');
    const busy = await signedIn('viewer');
    dashboard().advance(IDLE_MS - MINUTE_MS);
    expect((await busy.get('sessions')).status).toBe(200);
    await dashboard().written();
    dashboard().advance(2 * MINUTE_MS);
    await expectOver(idle);
    expect((await busy.get('sessions')).status).toBe(200);
  });

  test('comes after hours in which only an open page made requests by itself', async () => {
    const leftOpen = await signedIn('viewer');
    const automatic = { 'x-sched-automatic': '1' };
    for (const ask of [
      () => leftOpen.get('sessions', automatic),
      () => leftOpen.get('whoami', automatic),
      () => leftOpen.post('p/default/test/preview', { delay: '1h' }, automatic),
      () => leftOpen.watch(['about']),
    ]) {
      dashboard().advance(IDLE_MS / 5);
      await ask();
      await dashboard().written();
    }
    expect((await leftOpen.get('sessions', automatic)).status).toBe(200);
    dashboard().advance(IDLE_MS / 5);
    await expectOver(leftOpen);
  });

  test('comes after a week, even with constant use', async () => {
    const busy = await signedIn('viewer');
    const steps = ABSOLUTE_MS / (IDLE_MS / 2);
    for (let step = 1; step < steps; step++) {
      dashboard().advance(IDLE_MS / 2);
      expect((await busy.get('about')).status).toBe(200);
      await dashboard().written();
    }
    dashboard().advance(IDLE_MS / 2);
    await expectOver(busy);
  });

  test('comes with signing out, and a copied cookie is useless then', async () => {
    const browser = await signedIn('viewer');
    const copied = dashboard().browse();
    copied.cookie = browser.cookie;
    const { status, headers } = await browser.post('logout');
    expect(status).toBe(200);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-sched_session=; .*Max-Age=0$/),
      expect.stringMatching(/^sched_session=; .*Max-Age=0$/),
    ]);
    expect(browser.cookie).toBeNull();
    await expectOver(copied);
  });

  test('comes with signing out everywhere, in every browser of that user only', async () => {
    const [one, other, somebodyElse] = [
      await signedIn('viewer'),
      await signedIn('viewer'),
      await signedIn('operator'),
    ];
    expect((await one.post('logout-everywhere')).status).toBe(200);
    await expectOver(one);
    await expectOver(other);
    expect((await somebodyElse.get('sessions')).status).toBe(200);
  });

  test('comes with a new password for all other sessions of the user', async () => {
    const { invite, browse } = dashboard();
    const name = 'changing';
    const browser = await invite(name, 'viewer');
    const other = browse();
    await other.signIn(name, PASSWORD);

    const next = 'an entirely different one';
    expectRefused(
      await browser.post('password', { current: 'not it', password: next }),
      422,
      'wrong_password',
      'current',
    );
    expectRefused(
      await browser.post('password', { current: PASSWORD, password: 'short' }),
      422,
      'weak_password',
      'password',
    );
    expect((await other.get('sessions')).status).toBe(200);

    expect((await browser.post('password', { current: PASSWORD, password: next })).status).toBe(200);
    expect((await browser.get('sessions')).status).toBe(200);
    await expectOver(other);
    expectRefused(await other.signIn(name, PASSWORD), 401, 'wrong_login');
    expect((await other.signIn(name, next)).status).toBe(200);
  });

  test('comes with another role, another project scope, or the removal of the user', async () => {
    const { invite, browse } = dashboard();
    const browser = await invite('moved', 'operator');
    const admin = await signedIn('admin');
    const { json } = await browser.get<{ user: { id: string } }>('whoami');
    const { id } = json.user;

    expect((await admin.post(`users/${id}`, { role: 'viewer', projects: null })).status).toBe(200);
    await expectOver(browser);
    await browser.signIn('moved', PASSWORD);
    expect((await admin.post(`users/${id}`, { role: 'viewer', projects: ['shop'] })).status).toBe(200);
    await expectOver(browser);
    await browser.signIn('moved', PASSWORD);
    expect((await admin.post(`users/${id}/remove`)).status).toBe(200);
    await expectOver(browser);
    expectRefused(await browse().signIn('moved', PASSWORD), 401, 'wrong_login');
  });

  test('also applies to a change whose body was still arriving', async () => {
    const { url, invite } = dashboard();
    const leaving = await invite('leaving', 'admin');
    const admin = await signedIn('admin');
    const body = JSON.stringify({ role: 'admin', projects: null });
    const asked = request(`${url}${API}/invitations`, {
      method: 'POST',
      headers: {
        ...leaving.pageHeaders(),
        cookie: leaving.cookie ?? '',
        'content-length': body.length,
        // This is answered as soon as its headers have arrived.
        expect: '100-continue',
      },
    });
    const answered = new Promise<IncomingMessage>((resolve) => asked.on('response', resolve));
    asked.flushHeaders();
    await new Promise((resolve) => asked.once('continue', resolve));
    asked.write(body.slice(0, 1));
    // This request came later, so the first one has been authenticated by now.
    const { json } = await leaving.get<{ user: { id: string } }>('whoami');
    expect((await admin.post(`users/${json.user.id}/remove`)).status).toBe(200);
    asked.end(body.slice(1));
    const { statusCode } = (await answered).resume();
    expect(statusCode).toBe(401);
    expect((await admin.get<Listed<InvitationInfo>>('invitations')).json.data).toEqual([]);
  });
});

test('a user sees their own open sessions, and which one is this', async () => {
  const browser = await dashboard().invite('looking', 'viewer');
  const other = dashboard().browse();
  await other.signIn('looking', PASSWORD, { 'user-agent': 'Another/1.0' });
  const { json } = await browser.get<Listed<OpenSession>>('sessions');
  expect(json.data.map(({ is_this, agent }) => [is_this, agent])).toEqual(
    expect.arrayContaining([
      [true, ''],
      [false, 'Another/1.0'],
    ]),
  );
  expect(json.data).toHaveLength(2);
  for (const { id, address } of json.data) {
    expect(id).toMatch(/^[0-9a-f]{16}$/);
    expect(address).toBe('127.0.0.1');
  }
});

test('a live page shows each user only their own sessions', async () => {
  const people = await Promise.all(['one', 'other'].map((name) => dashboard().invite(name, 'viewer')));
  const events = await Promise.all(people.map((browser) => browser.watch(['sessions'])));
  const ids = events.map(([first]) => {
    const body = first?.event === 'data' ? (first.body as Listed<OpenSession>) : null;
    expect(body?.data.map(({ is_this }) => is_this)).toEqual([true]);
    return body?.data[0]?.id;
  });
  expect(new Set(ids).size).toBe(2);
});
