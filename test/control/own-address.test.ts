/** The dashboard answers only under its own origins, and tells browsers behind TLS to keep using TLS. */
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { expectRefused } from './browser.ts';
import { useDashboard } from './harness.ts';

const BEHIND_TLS = { 'x-forwarded-proto': 'https' };

describe('a dashboard with configured origins', () => {
  const dashboard = useDashboard({
    publicOrigins: ['http://sched.example:8080', 'https://sched.example', 'http://[::1]:8080'],
  });

  test.each<[what: string, headers: Readonly<Record<string, string>>]>([
    ['the first origin', {}],
    ['an origin behind TLS', { host: 'sched.example', ...BEHIND_TLS }],
    ['in capitals, with the default port', { host: 'Sched.Example:443', ...BEHIND_TLS }],
    ['an address', { host: '[::1]:8080' }],
  ])('answers under %s', async (_what, headers) => {
    expect((await dashboard().browse().get('whoami', headers)).status).toBe(200);
  });

  test.each<[what: string, headers: Readonly<Record<string, string>>]>([
    ['a host that was made to resolve here', { host: 'rebound.example:8080' }],
    ['another port', { host: 'sched.example:8081' }],
    ['an origin without its TLS', { host: 'sched.example' }],
    ['TLS for an origin without TLS', BEHIND_TLS],
    ['a subdomain', { host: 'a.sched.example:8080' }],
    ['no host', { host: '' }],
  ])('does not answer under %s', async (_what, headers) => {
    const { viewer, browse } = dashboard();
    for (const answer of [
      await viewer.get<{ readonly error: { readonly message: string } }>('projects', headers),
      await browse().get<{ readonly error: { readonly message: string } }>('whoami', headers),
    ]) {
      expectRefused(answer, 421, 'wrong_host');
      expect(answer.json.error.message).toContain('http://sched.example:8080 or https://sched.example');
    }
  });

  test.each(['rebound.example@sched.example:8080', 'sched.example:8080/'])(
    'refuses the invalid host %s',
    async (host) => {
      expectRefused(await dashboard().browse().get('whoami', { host }), 400, 'invalid_request');
    },
  );

  test('answers 421 for its page and its stream too', async () => {
    for (const path of ['/dashboard', '/dashboard/schedules', '/dashboard/api/live?watch=about'])
      expect(await statusOf(path)).toBe(421);
  });

  test('accepts a change only from a page of the same origin', async () => {
    const { admin } = dashboard();
    expect((await admin.post('projects', { name: 'there' })).status).toBe(201);
    for (const origin of ['https://rebound.example', 'https://sched.example', 'http://sched.example:8081'])
      expectRefused(await admin.post('projects', { name: 'elsewhere' }, { origin }), 403, 'bad_origin');
    const rebound = { host: 'rebound.example', origin: 'http://rebound.example' };
    expectRefused(await admin.post('projects', { name: 'elsewhere' }, rebound), 421, 'wrong_host');
  });

  test('does not restrict the other routes of the service', async () => {
    expect(await statusOf('/healthz')).toBe(200);
    expect(await statusOf('/metrics')).toBe(200);
    expect(await statusOf('/v1/schedules')).toBe(401);
  });

  function statusOf(path: string): Promise<number | undefined> {
    const headers = { host: 'rebound.example' };
    return new Promise((resolve, reject) => {
      request(`${dashboard().url}${path}`, { headers }, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end();
    });
  }
});

describe('a dashboard behind TLS', () => {
  const dashboard = useDashboard();

  test('sends Strict-Transport-Security with every answer', async () => {
    const { url, browse } = dashboard();
    const transportSecurity = async (path: string, headers: Readonly<Record<string, string>>) =>
      (await fetch(`${url}${path}`, { headers })).headers.get('strict-transport-security');
    for (const path of ['/dashboard', '/dashboard/api/whoami', '/dashboard/api/nothing']) {
      expect([path, await transportSecurity(path, BEHIND_TLS)]).toEqual([path, 'max-age=31536000']);
      expect([path, await transportSecurity(path, {})]).toEqual([path, null]);
    }
    expect(await transportSecurity('/v1/schedules', BEHIND_TLS)).toBeNull();
    expect((await browse().get('whoami')).status).toBe(200);
  });
});
