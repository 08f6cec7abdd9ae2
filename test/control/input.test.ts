/** Requests that no page would send: too large, malformed, or not JSON. Their content is not logged either. */
import { describe, expect, test } from 'vitest';
import { exchangeBytes, parseAnswer } from '#test/e2e/raw.ts';
import { API, expectRefused } from './browser.ts';
import { PAGE, PASSWORD, useDashboard } from './harness.ts';

const dashboard = useDashboard();

describe('bodies', () => {
  test.each<[what: string, raw: string | Uint8Array, status: number, code: string]>([
    ['not JSON', '{', 400, 'invalid_json'],
    ['no JSON object', '[]', 400, 'invalid_json'],
    ['null', 'null', 400, 'invalid_json'],
    ['invalid UTF-8', Uint8Array.from([0x7b, 0xff, 0x7d]), 400, 'invalid_json'],
    ['deeply nested JSON', `{"name":${'['.repeat(10_000)}`, 400, 'invalid_json'],
    ['a body of more than a megabyte', `{"name":"${'x'.repeat(1_048_577)}"}`, 413, 'payload_too_large'],
  ])('are refused with and without a session: %s', async (_what, raw, status, code) => {
    const { admin, browse } = dashboard();
    const anonymous = browse();
    expectRefused(
      await anonymous.send('POST', 'login', { raw, headers: anonymous.pageHeaders() }),
      status,
      code,
    );
    const headers = { ...admin.pageHeaders(), cookie: admin.cookie ?? '' };
    expectRefused(await admin.send('POST', 'projects', { raw, headers }), status, code);
  });

  test('have a small limit without a session, and the limit of /v1 with one', async () => {
    const { admin, browse } = dashboard();
    const raw = `{"name":${'[],'.repeat(6_000)}`;
    const anonymous = browse();
    for (const path of ['login', 'invitation', 'invitation/lookup']) {
      const answer = await anonymous.send('POST', path, { raw, headers: anonymous.pageHeaders() });
      expectRefused(answer, 413, 'payload_too_large');
    }
    const headers = { ...admin.pageHeaders(), cookie: admin.cookie ?? '' };
    expectRefused(await admin.send('POST', 'projects', { raw, headers }), 400, 'invalid_json');
  });

  test('of a GET are ignored, as in /v1', async () => {
    const { admin } = dashboard();
    const headers = { cookie: admin.cookie ?? '', 'content-type': 'application/json' };
    const answer = await admin.send('GET', 'projects', { raw: '{', headers });
    expect([answer.status, answer.json]).toEqual([200, (await admin.get('projects')).json]);
  });

  test('with a repeated field have its last value, as in /v1', async () => {
    const { admin } = dashboard();
    const headers = { ...admin.pageHeaders(), cookie: admin.cookie ?? '' };
    const raw = '{"name":"repeated-1","name":"repeated-2"}';
    const { json } = await admin.send<{ name: string }>('POST', 'projects', { raw, headers });
    expect(json.name).toBe('repeated-2');
  });

  test.each<[path: string, body: object]>([
    ['login', { name: 'a', password: PASSWORD }],
    ['invitation/lookup', { token: 'x' }],
    ['invitation', { token: 'x', name: 'a', password: PASSWORD }],
  ])('without a session have no unknown field: %s', async (path, body) => {
    const answer = await dashboard()
      .browse()
      .post(path, { ...body, unknown: 1 });
    expectRefused(answer, 400, 'unknown_field', 'unknown');
  });

  test.each<[body: object, param: string]>([
    [{}, 'name'],
    [{ name: 1, password: PASSWORD }, 'name'],
    [{ name: 'a', password: null }, 'password'],
    [{ name: 'a', password: ['x'] }, 'password'],
    [{ name: 'a'.repeat(1_025), password: PASSWORD }, 'name'],
    [{ name: 'a', password: 'x'.repeat(1_025) }, 'password'],
  ])('of a login with invalid fields are refused with the name of the field', async (body, param) => {
    expectRefused(await dashboard().browse().post('login', body), 400, 'invalid_request', param);
  });
});

describe('cookies and paths', () => {
  test.each([
    'sched_session',
    'sched_session=',
    ';;;=;',
    `sched_session=${'x'.repeat(8_000)}`,
    "sched_session=' OR 1=1 --",
    `sched_session=${'x'.repeat(43)}`,
    'a=b; '.repeat(1_000),
  ])('the cookie %s is not a session', async (cookie) => {
    expectRefused(await dashboard().browse().get('sessions', { cookie }), 401, 'not_signed_in');
  });

  test('two session cookies are refused, since one of them may come from an attacker', async () => {
    const { viewer, operator } = dashboard();
    const cookie = `${viewer.cookie}; ${operator.cookie}`;
    expectRefused(await viewer.get('sessions', { cookie }), 401, 'not_signed_in');
  });

  test.each([
    '',
    '/',
    '%zz',
    '..%2f..%2fv1%2fschedules',
    'p/default/test',
    'session/',
    '__proto__',
    'a'.repeat(9_000),
  ])('the path %s is not found', async (path) => {
    expectRefused(await dashboard().admin.get(path), 404, 'not_found');
  });

  test('no path leads to /v1 or to a file', async () => {
    const { url } = dashboard();
    for (const path of [
      `${API}/../../v1/schedules`,
      '/dashboard/../../etc/passwd',
      '/dashboard/..%2f..%2fpackage.json',
    ]) {
      const text = await exchangeBytes(url, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      const { status, body } = parseAnswer(text);
      expect(status === 200 ? body : '').toBe(status === 200 ? PAGE : '');
      expect(text).not.toContain('"private"');
    }
  });
});

test('requests are logged like all others, and their content is not logged', async () => {
  const { browse, admin, log } = dashboard();
  const { headers } = await browse().signIn('somebody@example', 'a password nobody has');
  await admin.get('audit?action=planted.');
  await admin.post('p/default/test/schedules', {
    endpoint: 'https://a.example',
    delay: '1h',
    body: 'planted body',
  });
  const line = log()
    .split('\n')
    .find((text) => text.includes(String(headers['sched-request-id'])));
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    method: 'POST',
    route: '/dashboard/api/login',
    status: 401,
  });
  for (const planted of [
    'planted',
    'somebody@example',
    'nobody has',
    PASSWORD,
    admin.csrf,
    admin.cookie ?? '',
  ]) {
    expect(log()).not.toContain(planted);
  }
});
