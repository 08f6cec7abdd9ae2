import { describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import type { Reach, User } from '#src/ports/people-store.ts';
import { ownSuite, type Suite } from './bench.ts';
import { HOUR_MS, START } from './builders.ts';
import { PeopleBench } from './people-bench.ts';
import { peopleRecordsContract } from './people-records.ts';

/** People and invitations; what is kept about them is in `people-records.ts`. */
export function peopleContract(suite: Suite): void {
  describe('people', () => {
    const bench = new PeopleBench(suite);

    test('come by an invitation, which is used up by it', async () => {
      const before = await bench.people.countUsers();
      const invitation = await bench.addInvitation();
      const projects: Reach = [(await suite.project()).id, (await suite.project()).id];
      const user = bench.user({ projects, role: 'operator' });
      expect(await bench.people.acceptInvitation(invitation.hash, user)).toBe('done');
      expect(await bench.people.findUser(user.id)).toEqual(user);
      expect(await bench.people.findUserByName(user.name)).toEqual(user);
      expect(await bench.people.countUsers()).toBe(before + 1);
      expect(await bench.people.findInvitation(invitation.hash, START)).toBeNull();
      expect(await bench.people.acceptInvitation(invitation.hash, bench.user())).toBe('missing');
    });

    test('of a name that is taken do not come, and their invitation stays', async () => {
      const { name } = await bench.addUser();
      const invitation = await bench.addInvitation();
      expect(await bench.people.acceptInvitation(invitation.hash, bench.user({ name }))).toBe('taken');
      expect(await bench.people.findInvitation(invitation.hash, START)).toEqual(invitation);
    });

    test('that accept one invitation at once are one', async () => {
      const { hash } = await bench.addInvitation();
      const rivals = [bench.user(), bench.user(), bench.user()];
      const answers = await Promise.all(rivals.map((user) => bench.people.acceptInvitation(hash, user)));
      expect(answers.toSorted()).toEqual(['done', 'missing', 'missing']);
      const found = await Promise.all(rivals.map(({ id }) => bench.people.findUser(id)));
      expect(found.map((user) => user !== null)).toEqual(answers.map((answer) => answer === 'done'));
    });

    test('that take one name at once are one, and the other invitations stay', async () => {
      const invitations = [await bench.addInvitation(), await bench.addInvitation()];
      const { name } = bench.user();
      const answers = await Promise.all(
        invitations.map(({ hash }) => bench.people.acceptInvitation(hash, bench.user({ name }))),
      );
      expect(answers.toSorted()).toEqual(['done', 'taken']);
      const open = await Promise.all(invitations.map(({ hash }) => bench.people.findInvitation(hash, START)));
      expect(open.map((invitation) => invitation !== null)).toEqual(answers.map((one) => one === 'taken'));
    });

    test('are listed by name', async () => {
      await bench.addUser({ name: 'aa-listed-2' });
      await bench.addUser({ name: 'aa-listed-1' });
      const names = (await bench.people.listUsers()).map(({ name }) => name);
      expect(names).toEqual(names.toSorted());
      expect(names.slice(0, 2)).toEqual(['aa-listed-1', 'aa-listed-2']);
      expect(await bench.people.findUserByName('nobody')).toBeNull();
      expect(await bench.people.findUser(bench.ids.mint('usr', START))).toBeNull();
    });

    test('are replaced as they were read, and their sessions end with it but for one', async () => {
      const user = await bench.addUser({ role: 'viewer' });
      const sessions = [await bench.addSession(user), await bench.addSession(user)];
      const [kept, other] = sessions;
      const stranger = await bench.addSession(await bench.addUser());
      const changed: User = {
        ...user,
        role: 'operator',
        projects: [],
        passwordHash: 'another',
        passwordChangedAt: instant(START + 1),
        revision: 2,
      };
      expect(await bench.people.replaceUser({ ...changed, revision: 3 }, null)).toBe('stale');
      expect(await Promise.all(sessions.map((one) => bench.isOpen(one)))).toEqual([true, true]);
      expect(await bench.people.replaceUser(changed, kept?.hash ?? null)).toBe('done');
      expect(await bench.people.findUser(user.id)).toEqual(changed);
      expect(kept !== undefined && (await bench.isOpen(kept))).toBe(true);
      expect(other !== undefined && (await bench.isOpen(other))).toBe(false);
      expect(await bench.people.replaceUser({ ...changed, revision: 3 }, null)).toBe('done');
      expect(kept !== undefined && (await bench.isOpen(kept))).toBe(false);
      expect(await bench.isOpen(stranger)).toBe(true);
    });

    test('keep everything when their password is hashed anew, unless it is another one', async () => {
      const user = await bench.addUser();
      const session = await bench.addSession(user);
      await bench.people.renewPasswordHash(user.id, 'of long ago', 'not this one');
      expect(await bench.people.findUser(user.id)).toEqual(user);
      await bench.people.renewPasswordHash(user.id, user.passwordHash, 'better');
      expect(await bench.people.findUser(user.id)).toEqual({ ...user, passwordHash: 'better' });
      expect(await bench.isOpen(session)).toBe(true);
    });

    test('that are removed leave no session and no invitation', async () => {
      await bench.addUser();
      const user = await bench.addUser();
      const session = await bench.addSession(user);
      const [theirs, other] = [
        await bench.addInvitation({ createdBy: user.name }),
        await bench.addInvitation(),
      ];
      expect(await bench.people.removeUser(user)).toBe('done');
      expect(await bench.people.findUser(user.id)).toBeNull();
      expect(await bench.isOpen(session)).toBe(false);
      expect(await bench.people.findInvitation(theirs.hash, START)).toBeNull();
      expect(await bench.people.findInvitation(other.hash, START)).not.toBeNull();
      expect(await bench.people.removeUser(user)).toBe('missing');
    });

    test('that may not let people in any more have no open invitations', async () => {
      await bench.addUser();
      const user = await bench.addUser();
      const { hash } = await bench.addInvitation({ createdBy: user.name });
      await bench.people.replaceUser({ ...user, passwordHash: 'new', revision: 2 }, null);
      expect(await bench.people.findInvitation(hash, START)).not.toBeNull();
      await bench.people.replaceUser({ ...user, projects: [], revision: 3 }, null);
      expect(await bench.people.findInvitation(hash, START)).toBeNull();
    });
  });

  describe('the last admin of everything', () => {
    const own = ownSuite(suite);
    const bench = new PeopleBench(own);
    /** The only ones there are. */
    async function only(...given: readonly Partial<User>[]): Promise<readonly User[]> {
      const before = await bench.people.listUsers();
      const users: User[] = [];
      for (const one of given) users.push(await bench.addUser(one));
      for (const user of before) expect(await bench.people.removeUser(user)).toBe('done');
      return users;
    }
    const demoted = (user: User): User => ({ ...user, role: 'operator', revision: user.revision + 1 });

    test('cannot be removed, demoted or confined, and keeps the sessions', async () => {
      const [admin] = await only({}, { role: 'operator' }, { projects: [] });
      if (admin === undefined) throw new Error('There is nobody.');
      const session = await bench.addSession(admin);
      expect(await bench.people.removeUser(admin)).toBe('last_admin');
      expect(await bench.people.replaceUser(demoted(admin), null)).toBe('last_admin');
      expect(await bench.people.replaceUser({ ...admin, projects: [], revision: 2 }, null)).toBe(
        'last_admin',
      );
      expect(await bench.people.findUser(admin.id)).toEqual(admin);
      expect(await bench.isOpen(session)).toBe(true);
      expect(await bench.people.replaceUser({ ...admin, passwordHash: 'new', revision: 2 }, null)).toBe(
        'done',
      );
    });

    test('is no matter for those who are none', async () => {
      const [, viewer, confined] = await only({}, { role: 'viewer' }, { projects: [] });
      if (viewer === undefined || confined === undefined) throw new Error('There is nobody.');
      expect(await bench.people.replaceUser(demoted(viewer), null)).toBe('done');
      expect(await bench.people.removeUser(viewer)).toBe('done');
      expect(await bench.people.removeUser(confined)).toBe('done');
    });

    test('stays when all of them go at once, by whichever way', async () => {
      for (const goes of [
        (user: User) => bench.people.removeUser(user),
        (user: User) => bench.people.replaceUser(demoted(user), null),
        (user: User) =>
          user.name.endsWith('even')
            ? bench.people.removeUser(user)
            : bench.people.replaceUser(demoted(user), null),
      ]) {
        const round = bench.ids.mint('usr', START);
        const admins = await only(
          { name: `${round}-even` },
          { name: `${round}-odd` },
          { name: `${round}-2-even` },
        );
        const answers = await Promise.all(admins.map(goes));
        expect(answers.toSorted()).toEqual(['done', 'done', 'last_admin']);
        const left = (await bench.people.listUsers()).filter(({ role }) => role === 'admin');
        expect(left).toEqual([admins[answers.indexOf('last_admin')]]);
        await bench.addUser();
      }
    });
  });

  describe('invitations', () => {
    const own = ownSuite(suite);
    const bench = new PeopleBench(own);

    test('can be used until they are over', async () => {
      const end = instant(START + HOUR_MS);
      const first = await bench.addInvitation({ expiresAt: end, projects: null, role: 'admin' });
      const second = await bench.addInvitation({ expiresAt: instant(end + 1) });
      const { people } = bench;
      expect(await people.listInvitations(instant(end - 1))).toEqual([second, first]);
      expect(await people.listInvitations(end)).toEqual([second]);
      expect(await people.findInvitation(first.hash, instant(end - 1))).toEqual(first);
      expect(await people.findInvitation(first.hash, end)).toBeNull();
      expect(await people.acceptInvitation(first.hash, bench.user({ createdAt: end }))).toBe('missing');
      expect(await people.acceptInvitation(second.hash, bench.user({ createdAt: end }))).toBe('done');
    });

    test('that are taken back are gone', async () => {
      const { id, hash } = await bench.addInvitation();
      const answers = await Promise.all([1, 2].map(() => bench.people.removeInvitation(id)));
      expect(answers.toSorted()).toEqual(['done', 'missing']);
      expect(await bench.people.findInvitation(hash, START)).toBeNull();
      expect(await bench.people.acceptInvitation(hash, bench.user())).toBe('missing');
    });
  });

  peopleRecordsContract(suite);
}
