/** Builds users, invitations, sessions and audit entries as the control plane does, each with its own id. */
import { expect } from 'vitest';
import type { IdMint } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { AuditEntry, Invitation, PeopleStore, Session, User } from '#src/ports/people-store.ts';
import { DAY_MS, HOUR_MS, START } from './builders.ts';
import type { Suite } from './fixture.ts';

export class PeopleFixture {
  readonly #suite: Suite;

  constructor(suite: Suite) {
    this.#suite = suite;
  }

  get people(): PeopleStore {
    return this.#suite.store.people;
  }

  get ids(): IdMint {
    return this.#suite.ids;
  }

  user(given: Partial<User> = {}): User {
    const id = this.ids.mint('usr', START);
    return {
      id,
      name: `name-of-${id}`,
      role: 'admin',
      projects: null,
      passwordHash: `hash of ${id}`,
      createdAt: START,
      passwordChangedAt: START,
      revision: 1,
      ...given,
    };
  }

  invitation(given: Partial<Invitation> = {}): Invitation {
    const id = this.ids.mint('inv', START);
    return {
      id,
      hash: `hash of ${id}`,
      role: 'viewer',
      projects: [],
      createdBy: 'command line',
      createdAt: START,
      expiresAt: instant(START + DAY_MS),
      ...given,
    };
  }

  session({ id }: User, given: Partial<Session> = {}): Session {
    return {
      hash: `session ${this.ids.mint('req', START)}`,
      userId: id,
      createdAt: START,
      seenAt: START,
      expiresAt: instant(START + DAY_MS),
      address: '192.0.2.1',
      agent: 'Browser/1 “quoted”',
      ...given,
    };
  }

  entry(given: Partial<AuditEntry> = {}): AuditEntry {
    const at = given.at ?? START;
    return {
      id: this.ids.mint('aud', at),
      at,
      userId: null,
      actor: 'command line',
      action: 'schedule.pause',
      subject: 'sch_1',
      projectId: null,
      mode: null,
      detail: {},
      address: null,
      peer: null,
      outcome: 'begun',
      code: null,
      ...given,
    };
  }

  /** Adds a user by an invitation, which is the only way. */
  async addUser(given: Partial<User> = {}): Promise<User> {
    const invitation = await this.addInvitation();
    const user = this.user(given);
    expect(await this.people.acceptInvitation(invitation.hash, user)).toBe('done');
    return user;
  }

  async addInvitation(given: Partial<Invitation> = {}): Promise<Invitation> {
    const invitation = this.invitation(given);
    await this.people.addInvitation(invitation);
    return invitation;
  }

  async addSession(user: User, given: Partial<Session> = {}): Promise<Session> {
    const session = this.session(user, given);
    expect(await this.people.addSession(session, user.passwordHash, null)).toBe('done');
    return session;
  }

  async addEntry(given: Partial<AuditEntry> = {}): Promise<AuditEntry> {
    const entry = this.entry(given);
    await this.people.addAudit(entry);
    return entry;
  }

  async isOpen(session: Session): Promise<boolean> {
    return (await this.people.findSession(session.hash)) !== null;
  }

  later(hours: number): Instant {
    return instant(START + hours * HOUR_MS);
  }
}
