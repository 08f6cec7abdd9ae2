import { describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import type { ProjectScope, User } from '#src/ports/people-store.ts';
import { HOUR_MS, START } from './builders.ts';
import { ownSuite, type Suite } from './fixture.ts';
import { PeopleFixture } from './people-fixture.ts';
import { peopleRecordsContract } from './people-records.ts';

/** Users and invitations. Sessions and the audit log are in `people-records.ts`. */
export function peopleContract(suite: Suite): void {
  describe('people', () => {
    const fixture = new PeopleFixture(suite);

    test('accept an invitation, which can be used once', async () => {
      const before = await fixture.people.countUsers();
      const invitation = await fixture.addInvitation();
      const projects: ProjectScope = [(await suite.project()).id, (await suite.project()).id];
      const user = fixture.user({ projects, role: 'operator' });
      expect(await fixture.people.acceptInvitation(invitation.hash, user)).toBe('done');
      expect(await fixture.people.findUser(user.id)).toEqual(user);
      expect(await fixture.people.findUserByName(user.name)).toEqual(user);
      expect(await fixture.people.countUsers()).toBe(before + 1);
      expect(await fixture.people.findInvitation(invitation.hash, START)).toBeNull();
      expect(await fixture.people.acceptInvitation(invitation.hash, fixture.user())).toBe('missing');
    });

    test('with a taken name are refused, and their invitation stays', async () => {
      const { name } = await fixture.addUser();
      const invitation = await fixture.addInvitation();
      expect(await fixture.people.acceptInvitation(invitation.hash, fixture.user({ name }))).toBe('taken');
      expect(await fixture.people.findInvitation(invitation.hash, START)).toEqual(invitation);
    });

    test('that accept one invitation at the same time: only one is added', async () => {
      const { hash } = await fixture.addInvitation();
      const rivals = [fixture.user(), fixture.user(), fixture.user()];
      const answers = await Promise.all(rivals.map((user) => fixture.people.acceptInvitation(hash, user)));
      expect(answers.toSorted()).toEqual(['done', 'missing', 'missing']);
      const found = await Promise.all(rivals.map(({ id }) => fixture.people.findUser(id)));
      expect(found.map((user) => user !== null)).toEqual(answers.map((answer) => answer === 'done'));
    });

    test('that take one name at the same time: only one is added, and the other invitations stay', async () => {
      const invitations = [await fixture.addInvitation(), await fixture.addInvitation()];
      const { name } = fixture.user();
      const answers = await Promise.all(
        invitations.map(({ hash }) => fixture.people.acceptInvitation(hash, fixture.user({ name }))),
      );
      expect(answers.toSorted()).toEqual(['done', 'taken']);
      const open = await Promise.all(
        invitations.map(({ hash }) => fixture.people.findInvitation(hash, START)),
      );
      expect(open.map((invitation) => invitation !== null)).toEqual(answers.map((one) => one === 'taken'));
    });

    test('are listed by name', async () => {
      await fixture.addUser({ name: 'aa-listed-2' });
      await fixture.addUser({ name: 'aa-listed-1' });
      const names = (await fixture.people.listUsers()).map(({ name }) => name);
      expect(names).toEqual(names.toSorted());
      expect(names.slice(0, 2)).toEqual(['aa-listed-1', 'aa-listed-2']);
      expect(await fixture.people.findUserByName('nobody')).toBeNull();
      expect(await fixture.people.findUser(fixture.ids.mint('usr', START))).toBeNull();
    });

    test('are replaced only if unchanged, and all their sessions but one end', async () => {
      const user = await fixture.addUser({ role: 'viewer' });
      const sessions = [await fixture.addSession(user), await fixture.addSession(user)];
      const [kept, other] = sessions;
      const stranger = await fixture.addSession(await fixture.addUser());
      const changed: User = {
        ...user,
        role: 'operator',
        projects: [],
        passwordHash: 'another',
        passwordChangedAt: instant(START + 1),
        revision: 2,
      };
      expect(await fixture.people.replaceUser({ ...changed, revision: 3 }, null)).toBe('stale');
      expect(await Promise.all(sessions.map((one) => fixture.isOpen(one)))).toEqual([true, true]);
      expect(await fixture.people.replaceUser(changed, kept?.hash ?? null)).toBe('done');
      expect(await fixture.people.findUser(user.id)).toEqual(changed);
      expect(kept !== undefined && (await fixture.isOpen(kept))).toBe(true);
      expect(other !== undefined && (await fixture.isOpen(other))).toBe(false);
      expect(await fixture.people.replaceUser({ ...changed, revision: 3 }, null)).toBe('done');
      expect(kept !== undefined && (await fixture.isOpen(kept))).toBe(false);
      expect(await fixture.isOpen(stranger)).toBe(true);
    });

    test('keep everything when their password is rehashed, unless it was changed', async () => {
      const user = await fixture.addUser();
      const session = await fixture.addSession(user);
      await fixture.people.renewPasswordHash(user.id, 'of long ago', 'not this one');
      expect(await fixture.people.findUser(user.id)).toEqual(user);
      await fixture.people.renewPasswordHash(user.id, user.passwordHash, 'better');
      expect(await fixture.people.findUser(user.id)).toEqual({ ...user, passwordHash: 'better' });
      expect(await fixture.isOpen(session)).toBe(true);
    });

    test('that are removed leave no sessions and no invitations', async () => {
      await fixture.addUser();
      const user = await fixture.addUser();
      const session = await fixture.addSession(user);
      const [theirs, other] = [
        await fixture.addInvitation({ createdBy: user.name }),
        await fixture.addInvitation(),
      ];
      expect(await fixture.people.removeUser(user)).toBe('done');
      expect(await fixture.people.findUser(user.id)).toBeNull();
      expect(await fixture.isOpen(session)).toBe(false);
      expect(await fixture.people.findInvitation(theirs.hash, START)).toBeNull();
      expect(await fixture.people.findInvitation(other.hash, START)).not.toBeNull();
      expect(await fixture.people.removeUser(user)).toBe('missing');
    });

    test('that may no longer invite lose their open invitations', async () => {
      await fixture.addUser();
      const user = await fixture.addUser();
      const { hash } = await fixture.addInvitation({ createdBy: user.name });
      await fixture.people.replaceUser({ ...user, passwordHash: 'new', revision: 2 }, null);
      expect(await fixture.people.findInvitation(hash, START)).not.toBeNull();
      await fixture.people.replaceUser({ ...user, projects: [], revision: 3 }, null);
      expect(await fixture.people.findInvitation(hash, START)).toBeNull();
    });
  });

  describe('the last admin of all projects', () => {
    const own = ownSuite(suite);
    const fixture = new PeopleFixture(own);
    /** Removes all other users. */
    async function only(...given: readonly Partial<User>[]): Promise<readonly User[]> {
      const before = await fixture.people.listUsers();
      const users: User[] = [];
      for (const one of given) users.push(await fixture.addUser(one));
      for (const user of before) expect(await fixture.people.removeUser(user)).toBe('done');
      return users;
    }
    const demoted = (user: User): User => ({ ...user, role: 'operator', revision: user.revision + 1 });

    test('cannot be removed, demoted or restricted, and keeps the sessions', async () => {
      const [admin] = await only({}, { role: 'operator' }, { projects: [] });
      if (admin === undefined) throw new Error('There is no such user.');
      const session = await fixture.addSession(admin);
      expect(await fixture.people.removeUser(admin)).toBe('last_admin');
      expect(await fixture.people.replaceUser(demoted(admin), null)).toBe('last_admin');
      expect(await fixture.people.replaceUser({ ...admin, projects: [], revision: 2 }, null)).toBe(
        'last_admin',
      );
      expect(await fixture.people.findUser(admin.id)).toEqual(admin);
      expect(await fixture.isOpen(session)).toBe(true);
      expect(await fixture.people.replaceUser({ ...admin, passwordHash: 'new', revision: 2 }, null)).toBe(
        'done',
      );
    });

    test('does not limit changes of other users', async () => {
      const [, viewer, confined] = await only({}, { role: 'viewer' }, { projects: [] });
      if (viewer === undefined || confined === undefined) throw new Error('There is no such user.');
      expect(await fixture.people.replaceUser(demoted(viewer), null)).toBe('done');
      expect(await fixture.people.removeUser(viewer)).toBe('done');
      expect(await fixture.people.removeUser(confined)).toBe('done');
    });

    test('stays when all admins are removed at the same time, in any way', async () => {
      for (const goes of [
        (user: User) => fixture.people.removeUser(user),
        (user: User) => fixture.people.replaceUser(demoted(user), null),
        (user: User) =>
          user.name.endsWith('even')
            ? fixture.people.removeUser(user)
            : fixture.people.replaceUser(demoted(user), null),
      ]) {
        const round = fixture.ids.mint('usr', START);
        const admins = await only(
          { name: `${round}-even` },
          { name: `${round}-odd` },
          { name: `${round}-2-even` },
        );
        const answers = await Promise.all(admins.map(goes));
        expect(answers.toSorted()).toEqual(['done', 'done', 'last_admin']);
        const left = (await fixture.people.listUsers()).filter(({ role }) => role === 'admin');
        expect(left).toEqual([admins[answers.indexOf('last_admin')]]);
        await fixture.addUser();
      }
    });
  });

  describe('invitations', () => {
    const own = ownSuite(suite);
    const fixture = new PeopleFixture(own);

    test('can be used until they expire', async () => {
      const end = instant(START + HOUR_MS);
      const first = await fixture.addInvitation({ expiresAt: end, projects: null, role: 'admin' });
      const second = await fixture.addInvitation({ expiresAt: instant(end + 1) });
      const { people } = fixture;
      expect(await people.listInvitations(instant(end - 1))).toEqual([second, first]);
      expect(await people.listInvitations(end)).toEqual([second]);
      expect(await people.findInvitation(first.hash, instant(end - 1))).toEqual(first);
      expect(await people.findInvitation(first.hash, end)).toBeNull();
      expect(await people.acceptInvitation(first.hash, fixture.user({ createdAt: end }))).toBe('missing');
      expect(await people.acceptInvitation(second.hash, fixture.user({ createdAt: end }))).toBe('done');
    });

    test('that are revoked are gone', async () => {
      const { id, hash } = await fixture.addInvitation();
      const answers = await Promise.all([1, 2].map(() => fixture.people.removeInvitation(id)));
      expect(answers.toSorted()).toEqual(['done', 'missing']);
      expect(await fixture.people.findInvitation(hash, START)).toBeNull();
      expect(await fixture.people.acceptInvitation(hash, fixture.user())).toBe('missing');
    });
  });

  peopleRecordsContract(suite);
}
