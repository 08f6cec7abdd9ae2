/** The dashboard of the real service, from the link of the first start to signing out. */
import { expect, test } from 'vitest';
import type { About, Listed, NewKey, UserInfo } from '#src/control/http/contract.ts';
import type { Overview } from '#src/control/http/data-contract.ts';
import { startInThread } from '#test/process/run-command.ts';
import { startSched } from '#test/process/sched-process.ts';
import { API, Browser, expectRefused } from './browser.ts';
import { PASSWORD } from './harness.ts';

test('with a configured origin, the first link leads there, and the dashboard answers only there', async () => {
  const origin = 'https://sched.example.com';
  await using sched = await startInThread({ env: { SCHED_PUBLIC_URL: origin } });
  expect(sched.output.stdout).toContain(`  ${origin}/dashboard/invite#`);
  expectRefused(await new Browser(sched.url).get('whoami'), 421, 'wrong_host');
  const headers = { 'x-forwarded-proto': 'https' };
  expect((await new Browser(sched.url, origin).get('whoami', headers)).status).toBe(200);
});

test('the link that the first start printed makes the first admin', async () => {
  await using sched = await startSched();
  const token = /\/dashboard\/invite#([\w-]{43})/.exec(sched.output.stdout)?.[1] ?? '';
  const browser = new Browser(sched.url);
  const { status, json } = await browser.accept(token, 'first', PASSWORD);
  expect(status).toBe(200);
  expect([json.user.role, json.projects.map(({ name }) => name)]).toEqual(['admin', ['default']]);

  const users = await browser.get<Listed<UserInfo>>('users');
  expect(users.json.data.map(({ name, role, projects }) => [name, role, projects])).toEqual([
    ['first', 'admin', null],
  ]);
  const about = await browser.get<About>('about');
  expect(about.json).toMatchObject({ retention: '2160h0m0s', node: expect.stringMatching(/^\w+$/) });
  const overview = await browser.get<Overview>('p/default/test/overview?range=1h');
  expect(overview.json).toMatchObject({ range: '1h', is_empty: true });

  const key = await browser.post<NewKey>('p/default/test/keys');
  const call = () =>
    fetch(`${sched.url}/v1/schedules`, { headers: { authorization: `Bearer ${key.json.key}` } });
  expect((await call()).status).toBe(200);
  const made = await browser.post<{ id: string }>('p/default/test/schedules', {
    endpoint: 'https://receiver.example/',
    delay: '1h',
  });
  expect(made.status).toBe(201);
  expect(await (await call()).json()).toMatchObject({ data: [{ id: made.json.id }] });

  expect((await browser.post('logout')).status).toBe(200);
  expectRefused(await browser.get('sessions'), 401, 'not_signed_in');
  expect((await sched.stop()).code).toBe(0);
  const written = sched.output.stdout + sched.output.stderr;
  expect(written.split(token)).toHaveLength(2);
  for (const secret of [PASSWORD, key.json.key, json.csrf]) expect(written).not.toContain(secret);
});

test('a node that only sends deliveries has no dashboard and no page, and prints no invitation', async () => {
  await using sched = await startInThread({ env: { SCHED_ROLE: 'dispatcher' } });
  for (const path of ['/', '/dashboard']) {
    const answer = await fetch(`${sched.url}${path}`, { headers: { accept: 'text/html' } });
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  }
  expect((await fetch(`${sched.url}${API}/session`)).status).toBe(404);
  expect(sched.output.stdout).not.toContain('/dashboard/invite');
});
