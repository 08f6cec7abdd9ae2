import { describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import type { AuditEntry, AuditFilter, FailureCountsChange } from '#src/ports/people-store.ts';
import { DAY_MS, HOUR_MS, START } from './builders.ts';
import { ownSuite, type Suite } from './fixture.ts';
import { PeopleFixture } from './people-fixture.ts';

const ALL: AuditFilter = { userId: null, projectId: null, action: null };

/** Sessions, failed logins and the audit log. */
export function peopleRecordsContract(suite: Suite): void {
  describe('sessions', () => {
    const fixture = new PeopleFixture(suite);

    test('are found with their user', async () => {
      const user = await fixture.addUser({ projects: [(await suite.project()).id] });
      const session = await fixture.addSession(user, { createdAt: instant(START + 5) });
      expect(await fixture.people.findSession(session.hash)).toEqual({ session, user });
      expect(await fixture.people.findSession('another')).toBeNull();
    });

    test('replace another session in one step', async () => {
      const user = await fixture.addUser();
      const before = await fixture.addSession(user);
      const after = fixture.session(user);
      expect(await fixture.people.addSession(after, user.passwordHash, before.hash)).toBe('done');
      expect(await fixture.people.listSessions(user.id, START)).toEqual([after]);
    });

    test('are refused for an old password and for an unknown user', async () => {
      await fixture.addUser();
      const user = await fixture.addUser();
      const before = await fixture.addSession(user);
      const late = () => fixture.people.addSession(fixture.session(user), 'an old hash', before.hash);
      expect(await late()).toBe('stale');
      expect(await fixture.people.listSessions(user.id, START)).toEqual([before]);
      await fixture.people.removeUser(user);
      expect(await fixture.people.addSession(fixture.session(user), user.passwordHash, null)).toBe('stale');
    });

    test('end when the password changes at the same time', async () => {
      const user = await fixture.addUser();
      const session = fixture.session(user);
      await Promise.all([
        fixture.people.addSession(session, user.passwordHash, null),
        fixture.people.replaceUser({ ...user, passwordHash: 'new', revision: 2 }, null),
      ]);
      expect(await fixture.isOpen(session)).toBe(false);
    });

    test('are listed by last use, without those that have expired', async () => {
      const user = await fixture.addUser();
      const over = await fixture.addSession(user, { expiresAt: fixture.later(2) });
      const [quiet, seen] = [await fixture.addSession(user), await fixture.addSession(user)];
      await fixture.people.touchSession(seen.hash, fixture.later(1));
      await fixture.people.touchSession(seen.hash, instant(START + 1));
      await fixture.people.touchSession('nobody’s', fixture.later(1));
      const { people } = fixture;
      const touched = { ...seen, seenAt: fixture.later(1) };
      expect(await people.listSessions(user.id, fixture.later(1))).toContainEqual(over);
      expect(await people.listSessions(user.id, fixture.later(2))).toEqual([touched, quiet]);
    });

    test('end one by one, or all of a user except one', async () => {
      const user = await fixture.addUser();
      const [one, two, three] = [
        await fixture.addSession(user),
        await fixture.addSession(user),
        await fixture.addSession(user),
      ];
      const stranger = await fixture.addSession(await fixture.addUser());
      await fixture.people.removeSession(one.hash);
      expect(await fixture.people.listSessions(user.id, START)).toHaveLength(2);
      await fixture.people.removeSessionsOf(user.id, two.hash);
      expect([await fixture.isOpen(two), await fixture.isOpen(three)]).toEqual([true, false]);
      await fixture.people.removeSessionsOf(user.id, null);
      expect(await fixture.isOpen(two)).toBe(false);
      expect(await fixture.isOpen(stranger)).toBe(true);
    });
  });

  describe('failed logins', () => {
    const fixture = new PeopleFixture(suite);
    const fresh = (subject: string): FailureCountsChange => ({
      subject,
      failures: 1,
      lastAt: START,
      was: null,
    });

    test('replace what was read, all of them or none', async () => {
      const { people } = fixture;
      expect(await people.replaceFailureCounts([fresh('a'), fresh('b')])).toBe('done');
      const later = instant(START + 1);
      const again: FailureCountsChange = { subject: 'a', failures: 2, lastAt: later, was: fresh('a') };
      expect(await people.replaceFailureCounts([again, fresh('b')])).toBe('stale');
      expect(await people.replaceFailureCounts([{ ...again, was: { failures: 1, lastAt: later } }])).toBe(
        'stale',
      );
      const plain = ({ subject, failures, lastAt }: FailureCountsChange) => ({ subject, failures, lastAt });
      const found = async () =>
        (await people.findFailureCounts(['b', 'a', 'c'])).toSorted((x, y) =>
          x.subject < y.subject ? -1 : 1,
        );
      expect(await found()).toEqual([plain(fresh('a')), plain(fresh('b'))]);
      expect(await people.replaceFailureCounts([again, fresh('c')])).toBe('done');
      expect(await found()).toEqual([plain(again), plain(fresh('b')), plain(fresh('c'))]);
      expect(await people.findFailureCounts([])).toEqual([]);
    });

    test('that are counted at the same time are counted once each', async () => {
      const { people } = fixture;
      expect(await Promise.all([1, 2, 3].map(() => people.replaceFailureCounts([fresh('p')])))).toEqual(
        expect.arrayContaining(['done', 'stale', 'stale']),
      );
      const next: FailureCountsChange = { ...fresh('p'), failures: 2, was: fresh('p') };
      const answers = await Promise.all([1, 2, 3].map(() => people.replaceFailureCounts([next])));
      expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
      expect((await people.findFailureCounts(['p']))[0]?.failures).toBe(2);
    });

    test('are undone one by one down to zero, or cleared', async () => {
      const { people } = fixture;
      await people.replaceFailureCounts([{ ...fresh('t'), failures: 2 }, fresh('u')]);
      await Promise.all([1, 2, 3].map(() => people.undoFailure(['t', 'nobody'])));
      expect(await people.findFailureCounts(['t'])).toEqual([{ subject: 't', failures: 0, lastAt: START }]);
      await people.clearFailureCounts(['t', 'nobody']);
      expect((await people.findFailureCounts(['t', 'u'])).map(({ subject }) => subject)).toEqual(['u']);
    });
  });

  describe('the audit log', () => {
    const own = ownSuite(suite);
    const fixture = new PeopleFixture(own);

    test('records the beginning and the outcome of an action', async () => {
      const projectId = (await own.project()).id;
      const userId = fixture.ids.mint('usr', START);
      const detail = { name: 'a “quoted” \u0000 name', count: 3, isNew: true, before: null };
      const from = { address: '::1', peer: '192.0.2.7' };
      const given = { userId, projectId, mode: 'live', detail, ...from, actor: 'ada' } as const;
      const entry = await fixture.addEntry(given);
      expect(await fixture.people.listAudit(ALL, null, 1)).toEqual([entry]);
      await fixture.people.endAudit(entry.id, 'refused', 'last_admin', 'usr_made');
      const ended = { ...entry, outcome: 'refused', code: 'last_admin', subject: 'usr_made' };
      expect(await fixture.people.listAudit(ALL, null, 1)).toEqual([ended]);
    });

    test('is read newest first, in pages, by user, project and action', async () => {
      const projectId = (await own.project()).id;
      const userId = fixture.ids.mint('usr', START);
      const made: AuditEntry[] = [];
      for (const [hour, action] of ['key.create', 'key.revoke', 'keys_x', 'user.remove'].entries()) {
        made.unshift(
          await fixture.addEntry({
            at: fixture.later(hour + 1),
            action,
            userId: hour % 2 === 0 ? userId : null,
            projectId: hour < 2 ? projectId : null,
          }),
        );
      }
      const [last, third, second, first] = made;
      const { people } = fixture;
      expect(await people.listAudit(ALL, null, 3)).toEqual([last, third, second]);
      expect((await people.listAudit(ALL, second?.id ?? null, 3))[0]).toEqual(first);
      expect(await people.listAudit({ ...ALL, userId }, null, 9)).toEqual([third, first]);
      expect(await people.listAudit({ ...ALL, projectId }, null, 9)).toEqual([second, first]);
      expect(await people.listAudit({ ...ALL, action: 'key.' }, null, 9)).toEqual([second, first]);
      expect(await people.listAudit({ ...ALL, action: 'key_' }, null, 9)).toEqual([]);
      const both = { userId, projectId, action: 'key.' };
      expect(await people.listAudit(both, null, 9)).toEqual([first]);
      expect(await people.listAudit(both, first?.id ?? null, 9)).toEqual([]);
    });
  });

  describe('what has expired', () => {
    const own = ownSuite(suite);
    const fixture = new PeopleFixture(own);

    test('is removed, and nothing else', async () => {
      const { people } = fixture;
      const user = await fixture.addUser();
      const now = fixture.later(24);
      const seenBefore = fixture.later(12);
      const kept = await fixture.addSession(user, { seenAt: seenBefore, expiresAt: instant(now + 1) });
      await fixture.addSession(user, { seenAt: now, expiresAt: now });
      await fixture.addSession(user, { seenAt: instant(seenBefore - 1), expiresAt: instant(now + 1) });
      const open = await fixture.addInvitation({ expiresAt: instant(now + 1) });
      await fixture.addInvitation({ expiresAt: now });
      const counted = { failures: 1, was: null };
      await people.replaceFailureCounts([
        { ...counted, subject: 'old', lastAt: instant(START + HOUR_MS - 1) },
        { ...counted, subject: 'new', lastAt: fixture.later(1) },
        { subject: 'remembered', failures: 0, was: null, lastAt: instant(START + HOUR_MS - 1) },
        { subject: 'forgotten', failures: 0, was: null, lastAt: instant(START - 1) },
      ]);
      await fixture.addEntry({ at: instant(START + 2 * HOUR_MS - 1) });
      const entry = await fixture.addEntry({ at: fixture.later(2) });

      const prune = (auditBefore: number | null) =>
        people.prunePeople(
          now,
          seenBefore,
          fixture.later(1),
          START,
          auditBefore === null ? null : instant(auditBefore),
        );
      expect(await prune(null)).toBe('done');
      expect(await people.listAudit(ALL, null, 9)).toHaveLength(2);
      expect(await prune(START + 2 * HOUR_MS)).toBe('done');
      expect(await people.listAudit(ALL, null, 9)).toEqual([entry]);
      expect(await people.listSessions(user.id, START)).toEqual([kept]);
      expect(await people.listInvitations(START)).toEqual([open]);
      const left = await people.findFailureCounts(['old', 'new', 'remembered', 'forgotten']);
      expect(left.map(({ subject }) => subject).toSorted()).toEqual(['new', 'remembered']);
    });

    test('is removed in batches, and the answer tells when there is more', async () => {
      const { people } = fixture;
      const at = instant(START - DAY_MS);
      await Promise.all(Array.from({ length: 501 }, () => fixture.addEntry({ at })));
      const prune = () => people.prunePeople(START, at, at, at, START);
      expect(await prune()).toBe('more');
      expect(await prune()).toBe('done');
      expect((await people.listAudit(ALL, null, 9)).every((entry) => entry.at > at)).toBe(true);
    });
  });
}
