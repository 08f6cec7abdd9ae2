/** Only trusted proxies may name the client. */
import { describe, expect, test } from 'vitest';
import type { AuditLine, Listed, OpenSession } from '#src/control/http/contract.ts';
import { LIMITS } from '#src/control/login-throttle.ts';
import { expectRefused } from './browser.ts';
import { PASSWORD, type TestDashboard, useDashboard } from './harness.ts';

const CLIENT = '198.51.100.4';
const THROUGH_PROXY = { 'x-forwarded-for': `192.0.2.66, ${CLIENT}` };

async function lastOf({ admin }: TestDashboard, action: string): Promise<AuditLine | undefined> {
  return (await admin.get<Listed<AuditLine>>(`audit?action=${action}`)).json.data[0];
}

describe('behind a trusted proxy', () => {
  const dashboard = useDashboard({
    trustedProxies: [{ address: '127.0.0.1', prefixBits: 32, family: 'ipv4' }],
  });

  test('the audit log has the addresses of the client and of the proxy', async () => {
    const { admin } = dashboard();
    await admin.post('projects', { name: 'proxied' }, THROUGH_PROXY);
    expect(await lastOf(dashboard(), 'project.')).toMatchObject({ address: CLIENT, peer: '127.0.0.1' });
  });

  test('a login has the address of the client, in the audit log and in the list of sessions', async () => {
    const browser = dashboard().browse();
    expect((await browser.signIn('viewer', PASSWORD, THROUGH_PROXY)).status).toBe(200);
    expect(await lastOf(dashboard(), 'session.begin')).toMatchObject({ address: CLIENT, peer: '127.0.0.1' });
    const { json } = await browser.get<Listed<OpenSession>>('sessions');
    expect(json.data.find(({ is_this }) => is_this)).toMatchObject({ address: CLIENT });
  });

  test('failed logins of one client do not make another wait', async () => {
    const guess = async (client: string) =>
      (await dashboard().browse().signIn('operator', 'wrong', { 'x-forwarded-for': client })).status;
    for (let i = 0; i < LIMITS.name_and_address.free; i += 1) expect(await guess(CLIENT)).toBe(401);
    expect(await guess(CLIENT)).toBe(429);
    expect(await guess('198.51.100.5')).toBe(401);
  });
});

describe('without a trusted proxy', () => {
  const dashboard = useDashboard();

  test('a client cannot forge its address in the audit log, and the log says once that the header is ignored', async () => {
    const { admin, log } = dashboard();
    for (const name of ['forged', 'forged-too']) await admin.post('projects', { name }, THROUGH_PROXY);
    expect(await lastOf(dashboard(), 'project.')).toMatchObject({
      address: '127.0.0.1',
      peer: '127.0.0.1',
    });
    expect(log().match(/SCHED_TRUSTED_PROXIES/g)).toHaveLength(1);
    expect(log()).not.toContain(CLIENT);
  });

  test('guesses are throttled whatever addresses the client names', async () => {
    const guess = (i: number) =>
      dashboard()
        .browse()
        .signIn('operator', 'wrong', { 'x-forwarded-for': `198.51.100.${i}` });
    for (let i = 0; i < LIMITS.name_and_address.free; i += 1)
      expectRefused(await guess(i), 401, 'wrong_login');
    expectRefused(await guess(200), 429, 'login_throttled');
  });
});
