/** Guessing passwords, names and invitations. */
import { describe, expect, test } from 'vitest';
import { expectRefused } from './browser.ts';
import { PASSWORD, useDashboard } from './harness.ts';

const dashboard = useDashboard();
const HOUR_MS = 3_600_000;
/** Wrong guesses. */
const FREE = 5;

async function guess(name: string, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    expectRefused(await dashboard().browse().signIn(name, `wrong password ${time}`), 401, 'wrong_login');
  }
}

describe('guessing a password', () => {
  test('makes even the right password wait after a few wrong ones, and the answer says how long', async () => {
    const { invite, browse, advance } = dashboard();
    await invite('guessed', 'viewer');
    await guess('guessed', FREE);
    const refused = await browse().signIn('guessed', PASSWORD);
    expectRefused(refused, 429, 'login_throttled');
    expect(refused.headers['set-cookie']).toBeUndefined();
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeGreaterThanOrEqual(1);
    advance(seconds * 1_000);
    expect((await browse().signIn('guessed', PASSWORD)).status).toBe(200);
  });

  test('counts concurrent guesses like successive ones', async () => {
    const { invite, browse, advance } = dashboard();
    await invite('stormed', 'viewer');
    advance(HOUR_MS);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, i) => browse().signIn('stormed', `another wrong one ${i}`)),
    );
    const wrong = answers.filter(({ status }) => status === 401);
    expect(wrong.length).toBeLessThanOrEqual(FREE);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(answers.length - wrong.length);
    expectRefused(await browse().signIn('stormed', PASSWORD), 429, 'login_throttled');
  });

  test('of one name does not throttle other names', async () => {
    const { browse, advance } = dashboard();
    advance(HOUR_MS);
    await guess('nobody', FREE);
    expectRefused(await browse().signIn('nobody', 'wrong password'), 429, 'login_throttled');
    expect((await browse().signIn('viewer', PASSWORD)).status).toBe(200);
  });

  test('of an unknown name is answered like a wrong password', async () => {
    dashboard().advance(HOUR_MS);
    const [unknown, known] = [
      await dashboard().browse().signIn('not-there', 'wrong password'),
      await dashboard().browse().signIn('operator', 'wrong password'),
    ];
    const withoutId = ({ text }: { readonly text: string }) => text.replace(/req_\w+/, '');
    expect(withoutId(unknown)).toBe(withoutId(known));
    expectRefused(unknown, 401, 'wrong_login');
  });
});

describe('an invitation', () => {
  test('can be looked up and accepted once', async () => {
    const { admin, browse } = dashboard();
    const { json } = await admin.post<{ path: string; id: string }>('invitations', {
      role: 'operator',
      projects: ['shop'],
    });
    expect(json.path).toMatch(/^\/dashboard\/invite#[\w-]{43}$/);
    const token = json.path.split('#')[1] ?? '';

    const look = await browse().post('invitation/lookup', { token });
    expect(look.json).toEqual({ role: 'operator', expires_at: expect.any(String) });

    const browser = browse();
    expectRefused(await browser.accept(token, 'invited', 'short'), 422, 'weak_password', 'password');
    expectRefused(await browser.accept(token, 'no name', PASSWORD), 422, 'invalid_name', 'name');
    expectRefused(await browser.accept(token, 'admin', PASSWORD), 409, 'name_taken', 'name');
    const { status, json: session } = await browser.accept(token, 'Invited', PASSWORD);
    expect(status).toBe(200);
    expect(session.user).toMatchObject({ name: 'invited', role: 'operator' });
    expect(session.projects.map(({ name }) => name)).toEqual(['shop']);

    expectRefused(await browse().accept(token, 'another', PASSWORD), 410, 'invitation_gone');
    expectRefused(await browse().post('invitation/lookup', { token }), 410, 'invitation_gone');
  });

  test('that was withdrawn, has expired or never existed is gone', async () => {
    const { admin, browse, advance } = dashboard();
    const made = async () => {
      const { json } = await admin.post<{ path: string; id: string }>('invitations', {
        role: 'viewer',
        projects: null,
      });
      return { id: json.id, token: json.path.split('#')[1] ?? '' };
    };
    const back = await made();
    expect((await admin.post(`invitations/${back.id}/remove`)).status).toBe(200);
    const over = await made();
    for (const token of [back.token, 'x'.repeat(43), '']) {
      expectRefused(await browse().accept(token, 'late', PASSWORD), 410, 'invitation_gone');
    }
    advance(7 * 24 * HOUR_MS + 1);
    expectRefused(await browse().accept(over.token, 'late', PASSWORD), 410, 'invitation_gone');
  });
});
