/** Refused requests leave a trace in the log and in the audit log. */
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { AuditLine, Listed } from '#src/control/http/contract.ts';
import { expectRefused } from './browser.ts';
import { PASSWORD, useDashboard } from './harness.ts';

const dashboard = useDashboard();
const HOUR_MS = 3_600_000;
const FREE = 5;

async function entriesOf(action: string): Promise<readonly AuditLine[]> {
  return (await dashboard().admin.get<Listed<AuditLine>>(`audit?action=${action}&limit=100`)).json.data;
}

/** Returns the log from here on. */
function logFrom(): () => readonly Readonly<Record<string, unknown>>[] {
  const before = dashboard().log().length;
  return () =>
    dashboard()
      .log()
      .slice(before)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
}

async function guess(name: string, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    expectRefused(await dashboard().browse().signIn(name, `wrong password ${time}`), 401, 'wrong_login');
  }
}

describe('a failed login', () => {
  test('is a log line with the address and a hash of the name, which is the same for the same name', async () => {
    const log = logFrom();
    await guess('hunter2-in-the-wrong-field', 2);
    await guess('operator', 1);
    const failed = log().filter(({ message }) => message === 'a login failed');
    expect(failed).toMatchObject(
      Array.from({ length: 3 }, () => ({
        level: 'warn',
        address: '127.0.0.1',
        name_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
      })),
    );
    expect(failed[0]?.name_hash).toBe(failed[1]?.name_hash);
    expect(failed[0]?.name_hash).not.toBe(failed[2]?.name_hash);
    expect(JSON.stringify(log())).not.toMatch(/hunter2|operator|wrong password/);
  });

  test('that starts a throttle is in both logs, once for each throttle', async () => {
    const { invite, browse } = dashboard();
    await invite('guessed', 'viewer');
    const log = logFrom();
    await guess('guessed', FREE);
    expectRefused(await browse().signIn('guessed', 'again'), 429, 'login_throttled');
    await guess('nobody-at-all', FREE);
    const begun = { level: 'warn', address: '127.0.0.1', by: 'name_and_address', failures: FREE };
    expect(log().filter(({ message }) => message === 'logins are throttled')).toMatchObject([begun, begun]);

    const entry = {
      actor: 'failed logins',
      user_id: null,
      address: '127.0.0.1',
      outcome: 'done',
      detail: { by: 'name_and_address', failures: FREE, name_hash: expect.any(String) },
    };
    expect(await entriesOf('login.throttle')).toMatchObject([
      { ...entry, subject: '' },
      { ...entry, subject: 'guessed' },
    ]);
    expect(JSON.stringify(await entriesOf('login.throttle'))).not.toContain('nobody-at-all');
  });

  test('with one name after another throttles the address, which is another entry', async () => {
    const { advance, browse } = dashboard();
    advance(HOUR_MS);
    const before = (await entriesOf('login.throttle')).length;
    const names = Array.from({ length: 19 }, (_, i) => `name-${i}`);
    for (const name of names) await guess(name, FREE);
    await guess('one-more', FREE);
    const throttles = await entriesOf('login.throttle');
    // The last guess also starts a throttle of the address.
    expect(throttles.length - before).toBe(names.length + 2);
    expect(throttles[0]?.detail).toMatchObject({ by: 'address', failures: 100 });
    expectRefused(await browse().signIn('yet-another', 'wrong'), 429, 'login_throttled');
  });
});

describe('a client that disconnects before its request is handled', () => {
  /** Sends the whole request, then resets the connection. */
  function sendAndReset(head: readonly string[], body: string): Promise<void> {
    const { hostname, port } = new URL(dashboard().url);
    const length = `content-length: ${Buffer.byteLength(body)}`;
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write([...head, length, '', body].join('\r\n'), () => socket.resetAndDestroy());
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve());
    });
  }

  test('cannot change anything or guess a password without an address', async () => {
    const { admin, browse, url } = dashboard();
    const { host } = new URL(url);
    const head = (path: string, headers: Readonly<Record<string, string>>) => [
      `POST /dashboard/api/${path} HTTP/1.1`,
      `host: ${host}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    const log = logFrom();
    for (let i = 0; i < 10; i++) {
      const signedIn = { ...admin.pageHeaders(), cookie: admin.cookie ?? '' };
      await sendAndReset(head('projects', signedIn), JSON.stringify({ name: `reset-${i}` }));
      await sendAndReset(head('login', browse().pageHeaders()), '{"name":"reset","password":"wrong"}');
    }
    // Requests are handled in the order of their arrival.
    expect((await admin.get('about')).status).toBe(200);
    const entries = (await admin.get<Listed<AuditLine>>('audit?limit=100')).json.data;
    expect(entries.filter(({ address }) => address === 'unknown')).toEqual([]);
    expect(log().filter(({ address }) => address === 'unknown')).toEqual([]);
  });
});

describe('a refusal by role', () => {
  test('is in the audit log once for each user, route and hour', async () => {
    const { viewer, invite, advance } = dashboard();
    const other = await invite('another-viewer', 'viewer');
    advance(2 * HOUR_MS);
    const refuse = async () => {
      for (const browser of [viewer, other, viewer]) {
        for (const path of ['p/default/test/keys', 'p/shop/live/keys', 'projects']) {
          expectRefused(await browser.post(path), 403, 'not_allowed');
        }
      }
    };
    await refuse();
    const entry = { action: 'access.refused', outcome: 'refused', code: 'not_allowed', address: '127.0.0.1' };
    const keys = { ...entry, subject: 'POST p/:project/:mode/keys', project: 'default', mode: 'test' };
    const projects = { ...entry, subject: 'POST projects', project: null, mode: null };
    expect(await entriesOf('access.refused')).toMatchObject([
      { ...projects, actor: 'another-viewer' },
      { ...keys, actor: 'another-viewer' },
      { ...projects, actor: 'viewer' },
      { ...keys, actor: 'viewer' },
    ]);
    advance(HOUR_MS);
    await refuse();
    expect(await entriesOf('access.refused')).toHaveLength(8);
  });
});

describe('an invitation', () => {
  test('does not write audit entries under the name of another user, whether it is accepted or not', async () => {
    const { admin, browse } = dashboard();
    const { json } = await admin.post<{ path: string; id: string }>('invitations', { role: 'viewer' });
    const token = json.path.split('#')[1] ?? '';
    expectRefused(await browse().accept(token, 'admin', PASSWORD), 409, 'name_taken', 'name');
    expectRefused(await browse().accept(token, 'admin', 'short'), 422, 'weak_password', 'password');
    expect((await browse().accept(token, 'newcomer', PASSWORD)).status).toBe(200);
    const entry = { actor: 'an invitation', user_id: null, detail: { invitation: json.id, role: 'viewer' } };
    expect((await entriesOf('invitation.accept')).slice(0, 3)).toMatchObject([
      { ...entry, outcome: 'done', subject: 'newcomer' },
      { ...entry, outcome: 'refused', subject: '' },
      { ...entry, outcome: 'refused', subject: '' },
    ]);
  });
});
