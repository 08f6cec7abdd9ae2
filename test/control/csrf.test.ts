/** Requests that a page of another site makes the browser of a signed-in user send. They must not change anything. */
import { describe, expect, test } from 'vitest';
import type { Listed, ProjectInfo } from '#src/control/http/contract.ts';
import { API, expectRefused } from './browser.ts';
import { PASSWORD, useDashboard } from './harness.ts';

const dashboard = useDashboard();

async function projectNames(): Promise<readonly string[]> {
  const { json } = await dashboard().admin.get<Listed<ProjectInfo>>('projects');
  return json.data.map(({ name }) => name);
}

describe('a change with the cookie of an admin', () => {
  test.each<[what: string, headers: Readonly<Record<string, string>>, code: string]>([
    ['without the token', { 'x-sched-csrf': '' }, 'bad_csrf_token'],
    ['with a wrong token', { 'x-sched-csrf': 'a'.repeat(43) }, 'bad_csrf_token'],
    ['with a longer token', { 'x-sched-csrf': 'a'.repeat(8_000) }, 'bad_csrf_token'],
    ['from another origin', { origin: 'https://evil.example' }, 'bad_origin'],
    ['from a page without an origin', { origin: 'null' }, 'bad_origin'],
    ['from another site', { 'sec-fetch-site': 'cross-site' }, 'bad_origin'],
    ['from another host of the same domain', { 'sec-fetch-site': 'same-site', origin: '' }, 'bad_origin'],
    ['without an origin and a site', { 'sec-fetch-site': '', origin: '' }, 'bad_origin'],
    ['by a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'bad_origin'],
    ['by a form with files', { 'content-type': 'multipart/form-data; boundary=a' }, 'bad_origin'],
    ['as plain text', { 'content-type': 'text/plain' }, 'bad_origin'],
    ['without a content type', { 'content-type': '' }, 'bad_origin'],
    ['for another host', { host: 'rebound.example' }, 'bad_origin'],
  ])('%s is refused', async (_what, headers, code) => {
    const { admin } = dashboard();
    expectRefused(await admin.post('projects', { name: 'forged' }, headers), 403, code);
    expect(await projectNames()).not.toContain('forged');
  });

  test('with the token of another session of the same user is refused', async () => {
    const { admin, browse } = dashboard();
    const other = browse();
    await other.signIn('admin', PASSWORD);
    expect(other.csrf).not.toBe(admin.csrf);
    expectRefused(
      await admin.post('projects', { name: 'forged' }, { 'x-sched-csrf': other.csrf }),
      403,
      'bad_csrf_token',
    );
  });

  test('cannot be made by GET', async () => {
    const { admin } = dashboard();
    expectRefused(await admin.get('logout'), 404, 'not_found');
    expectRefused(await admin.get('users/usr_1/remove'), 404, 'not_found');
    expect((await admin.get('sessions')).status).toBe(200);
  });

  test('is refused for every other method', async () => {
    const { admin } = dashboard();
    for (const method of ['PUT', 'DELETE', 'OPTIONS']) {
      const answer = await admin.send(method, 'projects', { headers: { cookie: admin.cookie ?? '' } });
      expectRefused(answer, 403, 'bad_origin');
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test('from the page itself succeeds', async () => {
    const { admin } = dashboard();
    expect((await admin.post('projects', { name: 'meant' })).status).toBe(201);
    expect(await projectNames()).toContain('meant');
  });
});

describe('signing a user in from another site', () => {
  test.each<[what: string, headers: Readonly<Record<string, string>>]>([
    ['from another origin', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['by a form', { 'content-type': 'text/plain' }],
  ])('%s is refused, and no cookie is set', async (_what, headers) => {
    const victim = dashboard().browse();
    const answer = await victim.signIn('admin', PASSWORD, headers);
    expectRefused(answer, 403, 'bad_origin');
    expect(answer.headers['set-cookie']).toBeUndefined();
    expectRefused(await victim.post('invitation', { token: 'a' }, headers), 403, 'bad_origin');
    expectRefused(await victim.post('invitation/lookup', { token: 'a' }, headers), 403, 'bad_origin');
  });
});

test('no page of another site may frame the dashboard, run scripts in it or read from it', async () => {
  const { url, admin } = dashboard();
  const answers = [
    await fetch(`${url}/dashboard`),
    await fetch(`${url}/dashboard/p/default/test`),
    await fetch(`${url}/dashboard/assets/none.js`),
    await fetch(`${url}${API}/session`),
    await fetch(`${url}${API}/session`, { headers: { cookie: admin.cookie ?? '' } }),
    await fetch(`${url}${API}/login`, { method: 'POST' }),
    await fetch(`${url}${API}/%zz`),
    await fetch(`${url}/dashboard/%zz`),
    await fetch(`${url}/dashboard`, { method: 'POST', body: '{}' }),
  ];
  for (const { headers } of answers) {
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
      'cache-control': 'no-store',
    });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  }
});
