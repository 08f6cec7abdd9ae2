import { describe, expect, test, vi } from 'vitest';
import type { User } from '#src/ports/people-store.ts';
import { CHEAP, type ControlHarness, openControlHarness, START } from '#test/process/control-harness.ts';
import { createProject } from './bootstrap.ts';
import {
  acceptInvitation,
  invite,
  inviteFirstAdmin,
  removeInvitation,
  requireInvitation,
} from './invitations.ts';
import { confirmPassword, login } from './logins.ts';
import { Passwords } from './passwords.ts';
import type { ControlCode } from './refusal.ts';
import { createSession, csrfToken, findSession, openSessions, sessionIdOf } from './sessions.ts';
import { COMMAND_LINE } from './user-rules.ts';
import { changePassword, changeUser, removeUser } from './users.ts';

const PASSWORD = 'a heron in the fog';
const ADDRESS = '192.0.2.1';
const HOUR_MS = 3_600_000;
const ADMIN = { role: 'admin', projects: null } as const;

function refused(code: ControlCode) {
  return expect.objectContaining({ name: 'ControlRefusal', code });
}

async function join(harness: ControlHarness, name: string, role = 'admin'): Promise<User> {
  const { token } = await invite(harness, { role, projects: null, by: COMMAND_LINE });
  return acceptInvitation(harness, { token, name, password: PASSWORD });
}

/** Finds the session and waits until its use is written. */
async function use(harness: ControlHarness, token: string): Promise<void> {
  expect(await findSession(harness, token, true)).not.toBeNull();
  await harness.store.check(harness.clock.now());
}

describe('an invitation', () => {
  test('can be accepted once, and grants its role and projects', async () => {
    await using harness = await openControlHarness();
    const { id } = await createProject(harness, 'shop');
    const given = { role: 'operator', projects: ['shop', 'shop'], by: COMMAND_LINE };
    const { token, invitation } = await invite(harness, given);
    expect(await requireInvitation(harness, token)).toEqual(invitation);
    const user = await acceptInvitation(harness, { token, name: 'Ada@Example.org', password: PASSWORD });
    expect(user).toMatchObject({ name: 'ada@example.org', role: 'operator', projects: [id] });
    expect(JSON.stringify(user)).not.toContain(PASSWORD);
    await expect(requireInvitation(harness, token)).rejects.toEqual(refused('invitation_gone'));
    await expect(acceptInvitation(harness, { token, name: 'bob', password: PASSWORD })).rejects.toEqual(
      refused('invitation_gone'),
    );
  });

  test('expires after a week, and can be withdrawn', async () => {
    await using harness = await openControlHarness();
    const { token } = await invite(harness, { ...ADMIN, by: COMMAND_LINE });
    const other = await invite(harness, { ...ADMIN, by: COMMAND_LINE });
    await removeInvitation(harness, other.invitation.id, COMMAND_LINE);
    await expect(requireInvitation(harness, other.token)).rejects.toEqual(refused('invitation_gone'));
    harness.advance(7 * 24 * HOUR_MS - 1);
    await requireInvitation(harness, token);
    harness.advance(1);
    await expect(requireInvitation(harness, token)).rejects.toEqual(refused('invitation_gone'));
    for (const id of [other.invitation.id, 'inv_1', '']) {
      await expect(removeInvitation(harness, id, COMMAND_LINE)).rejects.toEqual(refused('invitation_gone'));
    }
  });

  test('stays valid after an invalid name, a weak password or a taken name', async () => {
    await using harness = await openControlHarness();
    await join(harness, 'ada');
    const { token } = await invite(harness, { ...ADMIN, by: COMMAND_LINE });
    for (const [name, password, code] of [
      ['with space', PASSWORD, 'invalid_name'],
      ['', PASSWORD, 'invalid_name'],
      ['x'.repeat(65), PASSWORD, 'invalid_name'],
      ['bob', 'short', 'weak_password'],
      ['ADA', PASSWORD, 'name_taken'],
    ] as const) {
      await expect(acceptInvitation(harness, { token, name, password })).rejects.toEqual(refused(code));
    }
    await acceptInvitation(harness, { token, name: 'bob', password: PASSWORD });
  });

  test('needs a known role, known projects and an inviter who is admin of every project', async () => {
    await using harness = await openControlHarness();
    const by = COMMAND_LINE;
    await expect(invite(harness, { role: 'owner', projects: null, by })).rejects.toEqual(
      refused('invalid_role'),
    );
    await expect(invite(harness, { role: 'viewer', projects: ['none'], by })).rejects.toEqual(
      refused('unknown_project'),
    );
    const many = Array.from({ length: 101 }, (_, i) => `p${i}`);
    await expect(invite(harness, { role: 'viewer', projects: many, by })).rejects.toEqual(
      refused('too_many_projects'),
    );
    const confined = { ...(await join(harness, 'ada')), projects: [] };
    const operator = await join(harness, 'bob', 'operator');
    for (const one of [confined, operator]) {
      await expect(invite(harness, { ...ADMIN, by: one })).rejects.toEqual(refused('not_allowed'));
      await expect(removeInvitation(harness, 'inv_1', one)).rejects.toEqual(refused('not_allowed'));
      await expect(changeUser(harness, 'ada', ADMIN, one)).rejects.toEqual(refused('not_allowed'));
      await expect(removeUser(harness, 'ada', one)).rejects.toEqual(refused('not_allowed'));
    }
  });

  test('cannot be accepted if its maker lost the right to invite at the same moment', async () => {
    await using harness = await openControlHarness();
    await join(harness, 'ada');
    const demoted = await join(harness, 'bob');
    const removed = await join(harness, 'eve');
    await changeUser(harness, 'bob', { role: 'operator', projects: null }, COMMAND_LINE);
    await removeUser(harness, 'eve', COMMAND_LINE);
    // This is the user as read before the change.
    for (const by of [demoted, removed]) {
      const { token } = await invite(harness, { ...ADMIN, by });
      await expect(requireInvitation(harness, token)).rejects.toEqual(refused('invitation_gone'));
      await expect(acceptInvitation(harness, { token, name: 'mallory', password: PASSWORD })).rejects.toEqual(
        refused('invitation_gone'),
      );
    }
  });

  test('for the first admin is created while there is no user and no open one, and again after it expired', async () => {
    await using harness = await openControlHarness();
    await invite(harness, { role: 'viewer', projects: null, by: COMMAND_LINE });
    const first = await inviteFirstAdmin(harness);
    expect(first?.invitation).toMatchObject({
      role: 'admin',
      projects: null,
      expiresAt: START + 24 * HOUR_MS,
    });
    expect(await inviteFirstAdmin(harness)).toBeNull();
    harness.advance(24 * HOUR_MS);
    await expect(
      acceptInvitation(harness, { token: first?.token ?? '', name: 'ada', password: PASSWORD }),
    ).rejects.toEqual(refused('invitation_gone'));
    const token = (await inviteFirstAdmin(harness))?.token ?? '';
    await acceptInvitation(harness, { token, name: 'ada', password: PASSWORD });
    expect(await inviteFirstAdmin(harness)).toBeNull();
  });

  test('expires exactly its lifetime after its creation', async () => {
    await using harness = await openControlHarness();
    const ticking = { ...harness, clock: { now: () => harness.advance(1) } };
    const made = await inviteFirstAdmin(ticking);
    expect(made?.invitation.expiresAt).toBe((made?.invitation.createdAt ?? 0) + 24 * HOUR_MS);
  });
});

describe('a login', () => {
  test('succeeds with the right password and the name in upper or lower case', async () => {
    await using harness = await openControlHarness();
    const user = await join(harness, 'ada');
    expect(
      await login(harness, { name: 'ADA', password: PASSWORD, address: ADDRESS, peer: ADDRESS }),
    ).toEqual(user);
  });

  test('that fails has the same answer for every reason, and has to wait after five', async () => {
    await using harness = await openControlHarness();
    await join(harness, 'ada');
    for (const [name, password] of [
      ['ada', 'another password'],
      ['ada', ''],
      ['ada', 'x'.repeat(100_000)],
      ['nobody', PASSWORD],
      ['not a name', PASSWORD],
    ] as const) {
      await expect(login(harness, { name, password, address: ADDRESS, peer: ADDRESS })).rejects.toEqual(
        refused('wrong_login'),
      );
    }
    const guess = () =>
      login(harness, { name: 'ada', password: 'another one…', address: ADDRESS, peer: ADDRESS });
    await expect(guess()).rejects.toEqual(refused('wrong_login'));
    await expect(guess()).rejects.toEqual(refused('wrong_login'));
    await expect(guess()).rejects.toEqual(refused('login_throttled'));
    await expect(
      login(harness, { name: 'ada', password: PASSWORD, address: ADDRESS, peer: ADDRESS }),
    ).rejects.toEqual(refused('login_throttled'));
    harness.advance(1_000);
    await login(harness, { name: 'ada', password: PASSWORD, address: ADDRESS, peer: ADDRESS });
    await expect(guess()).rejects.toEqual(refused('wrong_login'));
  });

  test('that cannot be checked because too many wait is not counted', async () => {
    await using harness = await openControlHarness();
    const count = vi.spyOn(harness.throttle, 'count');
    const others = Array.from({ length: 2 + 32 }, () => harness.passwords.check(PASSWORD, null));
    await expect(
      login(harness, { name: 'ada', password: PASSWORD, address: ADDRESS, peer: ADDRESS }),
    ).rejects.toEqual(refused('login_throttled'));
    expect(count).not.toHaveBeenCalled();
    await Promise.all(others);
  });

  test('with a password that was hashed at a lower cost hashes it again', async () => {
    await using harness = await openControlHarness();
    const user = await join(harness, 'ada');
    const old = await new Passwords(harness.random, { ...CHEAP, memoryKib: 16 }).hash(PASSWORD);
    await harness.store.people.renewPasswordHash(user.id, user.passwordHash, old);
    const found = await login(harness, { name: 'ada', password: PASSWORD, address: ADDRESS, peer: ADDRESS });
    expect(found.passwordHash).toContain('m=8,t=1,p=1');
    expect(await harness.store.people.findUser(user.id)).toEqual(found);
    await createSession(harness, found, null, ADDRESS, 'agent');
  });
});

describe('a session', () => {
  test('is found by its token, which is not stored', async () => {
    await using harness = await openControlHarness();
    const user = await join(harness, 'ada');
    const { token, session } = await createSession(harness, user, null, 'a'.repeat(99), 'b'.repeat(999));
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(session).toMatchObject({ address: 'a'.repeat(64), agent: 'b'.repeat(200) });
    expect(await findSession(harness, token, true)).toEqual({ user, session });
    for (const other of [session.hash, '', `${token}x`, token.toLowerCase(), `${token.slice(0, -1)}*`]) {
      expect(await findSession(harness, other, true)).toBeNull();
    }
    expect(sessionIdOf(session)).toBe(session.hash.slice(0, 16));
    expect(csrfToken(token)).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(csrfToken(token)).not.toBe(token);
  });

  test('begins with a new token, and ends the session of the presented one', async () => {
    await using harness = await openControlHarness();
    const user = await join(harness, 'ada');
    const first = await createSession(harness, user, null, ADDRESS, '');
    const second = await createSession(harness, user, first.token, ADDRESS, '');
    expect(second.token).not.toBe(first.token);
    expect(await findSession(harness, first.token, true)).toBeNull();
    const planted = 'p'.repeat(43);
    const third = await createSession(harness, user, planted, ADDRESS, '');
    expect(third.token).not.toBe(planted);
    expect(await findSession(harness, planted, true)).toBeNull();
    expect(await openSessions(harness, user)).toHaveLength(2);
  });

  test('ends after 8 hours without use, and after 7 days in any case', async () => {
    await using harness = await openControlHarness();
    const user = await join(harness, 'ada');
    const quiet = await createSession(harness, user, null, ADDRESS, '');
    const used = await createSession(harness, user, null, ADDRESS, '');
    harness.advance(8 * HOUR_MS - 1);
    await use(harness, used.token);
    harness.advance(1);
    expect(await findSession(harness, quiet.token, true)).toBeNull();
    expect(await openSessions(harness, user)).toHaveLength(1);
    for (let hours = 8; hours < 7 * 24; hours += 4) {
      await use(harness, used.token);
      harness.advance(4 * HOUR_MS);
    }
    expect(await findSession(harness, used.token, true)).toBeNull();
  });

  test('writes its use once a minute', async () => {
    await using harness = await openControlHarness();
    const { token } = await createSession(harness, await join(harness, 'ada'), null, ADDRESS, '');
    const before = harness.advance(59_999);
    await use(harness, token);
    expect((await findSession(harness, token, true))?.session.seenAt).toBeLessThan(before);
    const after = harness.advance(1);
    await use(harness, token);
    expect((await findSession(harness, token, true))?.session.seenAt).toBe(after);
  });
});

describe('a user', () => {
  test('who is changed or removed has to sign in again', async () => {
    await using harness = await openControlHarness();
    await join(harness, 'root');
    const user = await join(harness, 'ada');
    const { token } = await createSession(harness, user, null, ADDRESS, '');
    const changed = await changeUser(harness, user.id, { role: 'viewer', projects: [] }, COMMAND_LINE);
    expect(changed).toMatchObject({ role: 'viewer', projects: [], revision: 2 });
    expect(await findSession(harness, token, true)).toBeNull();
    const again = await createSession(harness, changed, null, ADDRESS, '');
    expect((await removeUser(harness, 'ADA', COMMAND_LINE)).id).toBe(user.id);
    expect(await findSession(harness, again.token, true)).toBeNull();
    await expect(removeUser(harness, 'ada', COMMAND_LINE)).rejects.toEqual(refused('unknown_user'));
    await expect(changeUser(harness, user.id, ADMIN, COMMAND_LINE)).rejects.toEqual(refused('unknown_user'));
  });

  test('who is the last admin of every project cannot be changed or removed', async () => {
    await using harness = await openControlHarness();
    const user = await join(harness, 'ada');
    await expect(removeUser(harness, 'ada', user)).rejects.toEqual(refused('last_admin'));
    await expect(changeUser(harness, 'ada', { role: 'operator', projects: null }, user)).rejects.toEqual(
      refused('last_admin'),
    );
  });

  test('changes the password with the current one, and their other sessions end', async () => {
    await using harness = await openControlHarness();
    const user = await join(harness, 'ada');
    const [kept, other] = [
      await createSession(harness, user, null, ADDRESS, ''),
      await createSession(harness, user, null, ADDRESS, ''),
    ];
    const change = {
      current: PASSWORD,
      password: 'a stork in the sun',
      address: ADDRESS,
      peer: ADDRESS,
      keptSession: kept.session.hash,
    };
    await expect(changePassword(harness, user, { ...change, current: 'a guess, no more' })).rejects.toEqual(
      refused('wrong_password'),
    );
    await expect(changePassword(harness, user, { ...change, password: 'short' })).rejects.toEqual(
      refused('weak_password'),
    );
    await changePassword(harness, user, change);
    expect(await findSession(harness, kept.token, true)).not.toBeNull();
    expect(await findSession(harness, other.token, true)).toBeNull();
    await expect(
      login(harness, { name: 'ada', password: PASSWORD, address: ADDRESS, peer: ADDRESS }),
    ).rejects.toEqual(refused('wrong_login'));
    await expect(createSession(harness, user, null, ADDRESS, '')).rejects.toEqual(refused('wrong_login'));
    await expect(changePassword(harness, user, { ...change, current: change.password })).rejects.toEqual(
      refused('wrong_password'),
    );
    await login(harness, { name: 'ada', password: change.password, address: ADDRESS, peer: ADDRESS });
  });

  test('who is signed in is throttled when guessing the password', async () => {
    await using harness = await openControlHarness();
    const user = await join(harness, 'ada');
    const guess = () =>
      confirmPassword(harness, user, { password: 'a guess, no more', address: ADDRESS, peer: ADDRESS });
    for (let i = 0; i < 5; i++) await expect(guess()).rejects.toEqual(refused('wrong_password'));
    await expect(guess()).rejects.toEqual(refused('login_throttled'));
  });
});
