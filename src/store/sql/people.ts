/** Users, invitations, sessions and the audit log, for every store that speaks SQL. */
import type { AuditId, InvitationId, UserId } from '#src/domain/id.ts';
import { firstIdAt } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type {
  AuditEntry,
  AuditFilter,
  AuditOutcome,
  FailureCounts,
  FailureCountsChange,
  Invitation,
  PeopleStore,
  Session,
  User,
} from '#src/ports/people-store.ts';
import type { Row } from './mapping.ts';
import { AUDIT, FAILURE_COUNTS, INVITATION, SESSION, USER } from './people-rows.ts';
import type { SqlRunner, Step } from './steps.ts';

/** One page shows no more than this. An organisation with more users has them in another system. */
const LISTED_MAX = 1_000;
const SUBJECTS_MAX = 16;
/** A value that no session hash has. */
const NO_SESSION = '';

const USERS = `SELECT ${USER.columns.join(', ')} FROM users`;
const INVITATIONS = `SELECT ${INVITATION.columns.join(', ')} FROM invitations`;
const SESSIONS = `SELECT ${SESSION.columns.join(', ')} FROM sessions`;
const JOINED_SESSION = SESSION.joined('s');
const JOINED_USER = USER.joined('u');
const SESSION_WITH_USER = `SELECT ${JOINED_SESSION.columns}, ${JOINED_USER.columns}
  FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.hash = $1`;

export class SqlPeople implements PeopleStore {
  readonly #sql: SqlRunner;

  constructor(sql: SqlRunner) {
    this.#sql = sql;
  }

  async countUsers(): Promise<number> {
    const [row] = await this.#sql.query<{ readonly users: number }>('SELECT count(*) AS users FROM users');
    return row?.users ?? 0;
  }

  async findUser(id: UserId): Promise<User | null> {
    return first((await this.#sql.query<Row>(`${USERS} WHERE id = $1`, id)).map(USER.from));
  }

  async findUserByName(name: string): Promise<User | null> {
    return first((await this.#sql.query<Row>(`${USERS} WHERE name = $1`, name)).map(USER.from));
  }

  async listUsers(): Promise<readonly User[]> {
    const rows = await this.#sql.query<Row>(`${USERS} ORDER BY name LIMIT ${LISTED_MAX}`);
    return rows.map(USER.from);
  }

  replaceUser(user: User, keptSession: string | null): Promise<'done' | 'stale' | 'last_admin'> {
    const guards = isFullAdmin(user) ? [] : adminStays(user.id);
    const leftovers: readonly Step[] = isFullAdmin(user) ? [] : [['removeInvitationsOf', null, user.name]];
    return this.#sql.run([
      ...guards,
      ['replaceUser', 'stale', ...USER.mutable.values(user), user.id, user.revision - 1],
      ['removeSessionsOf', null, user.id, keptSession ?? NO_SESSION],
      ...leftovers,
    ]);
  }

  async renewPasswordHash(id: UserId, was: string, hash: string): Promise<void> {
    await this.#sql.run([['renewPasswordHash', null, hash, id, was]]);
  }

  removeUser({ id, name }: Pick<User, 'id' | 'name'>): Promise<'done' | 'missing' | 'last_admin'> {
    return this.#sql.run([
      ...adminStays(id),
      ['removeUser', 'missing', id],
      ['removeSessionsOf', null, id, NO_SESSION],
      ['removeInvitationsOf', null, name],
    ]);
  }

  async addInvitation(invitation: Invitation): Promise<void> {
    await this.#sql.run([['insertInvitation', null, ...INVITATION.values(invitation)]]);
  }

  async listInvitations(now: Instant): Promise<readonly Invitation[]> {
    const rows = await this.#sql.query<Row>(
      `${INVITATIONS} WHERE expires_at > $1 ORDER BY id DESC LIMIT ${LISTED_MAX}`,
      now,
    );
    return rows.map(INVITATION.from);
  }

  async findInvitation(hash: string, now: Instant): Promise<Invitation | null> {
    const rows = await this.#sql.query<Row>(`${INVITATIONS} WHERE hash = $1 AND expires_at > $2`, hash, now);
    return first(rows.map(INVITATION.from));
  }

  removeInvitation(id: InvitationId): Promise<'done' | 'missing'> {
    return this.#sql.run([['removeInvitation', 'missing', id]]);
  }

  acceptInvitation(hash: string, user: User): Promise<'done' | 'missing' | 'taken'> {
    return this.#sql.run([
      ['useInvitation', 'missing', hash, user.createdAt],
      ['insertUser', 'taken', ...USER.values(user)],
    ]);
  }

  addSession(session: Session, passwordHash: string, replacedHash: string | null): Promise<'done' | 'stale'> {
    return this.#sql.run([
      ['userWithHash', 'stale', session.userId, passwordHash],
      ['insertSession', null, ...SESSION.values(session)],
      ['removeSession', null, replacedHash ?? NO_SESSION],
    ]);
  }

  async findSession(hash: string): Promise<{ readonly session: Session; readonly user: User } | null> {
    const [row] = await this.#sql.lookUp<Row>(SESSION_WITH_USER, hash);
    if (row === undefined) return null;
    return { session: JOINED_SESSION.from(row), user: JOINED_USER.from(row) };
  }

  async listSessions(userId: UserId, now: Instant): Promise<readonly Session[]> {
    const rows = await this.#sql.query<Row>(
      `${SESSIONS} WHERE user_id = $1 AND expires_at > $2 ORDER BY seen_at DESC, hash LIMIT ${LISTED_MAX}`,
      userId,
      now,
    );
    return rows.map(SESSION.from);
  }

  async touchSession(hash: string, seenAt: Instant): Promise<void> {
    await this.#sql.run([['touchSession', null, seenAt, hash, seenAt]]);
  }

  async removeSession(hash: string): Promise<void> {
    await this.#sql.run([['removeSession', null, hash]]);
  }

  async removeSessionsOf(userId: UserId, exceptHash: string | null): Promise<void> {
    await this.#sql.run([['removeSessionsOf', null, userId, exceptHash ?? NO_SESSION]]);
  }

  async findFailureCounts(subjects: readonly string[]): Promise<readonly FailureCounts[]> {
    if (subjects.length === 0) return [];
    if (subjects.length > SUBJECTS_MAX)
      throw new RangeError(`At most ${SUBJECTS_MAX} subjects can be looked up at a time.`);
    const placeholders = subjects.map((_, index) => `$${index + 1}`).join(', ');
    const rows = await this.#sql.query<Row>(
      `SELECT ${FAILURE_COUNTS.columns.join(', ')} FROM failure_counts WHERE subject IN (${placeholders})`,
      ...subjects,
    );
    return rows.map(FAILURE_COUNTS.from);
  }

  replaceFailureCounts(changes: readonly FailureCountsChange[]): Promise<'done' | 'stale'> {
    return this.#sql.run(
      changes
        .toSorted(bySubject)
        .map(({ subject, failures, lastAt, was }) =>
          was === null
            ? ['insertFailureCounts', 'stale', subject, failures, lastAt]
            : ['replaceFailureCounts', 'stale', failures, lastAt, subject, was.failures, was.lastAt],
        ),
    );
  }

  async undoFailure(subjects: readonly string[]): Promise<void> {
    await this.#sql.run(subjects.toSorted().map((subject) => ['undoFailure', null, subject]));
  }

  async clearFailureCounts(subjects: readonly string[]): Promise<void> {
    await this.#sql.run(subjects.toSorted().map((subject) => ['removeFailureCounts', null, subject]));
  }

  async addAudit(entry: AuditEntry): Promise<void> {
    await this.#sql.run([['insertAudit', null, ...AUDIT.values(entry)]]);
  }

  async endAudit(
    id: AuditId,
    outcome: Exclude<AuditOutcome, 'begun'>,
    code: string | null,
    subject: string,
  ): Promise<void> {
    await this.#sql.run([['endAudit', null, outcome, code, subject, id]]);
  }

  async listAudit(
    { userId, projectId, action }: AuditFilter,
    before: AuditId | null,
    limit: number,
  ): Promise<readonly AuditEntry[]> {
    const parameters: (string | number)[] = [];
    const bind = (value: string | number) => `$${parameters.push(value)}`;
    const conditions: string[] = [];
    if (userId !== null) conditions.push(`user_id = ${bind(userId)}`);
    if (projectId !== null) conditions.push(`project_id = ${bind(projectId)}`);
    if (action !== null) {
      conditions.push(`substr(action, 1, length(CAST(${bind(action)} AS text))) = ${bind(action)}`);
    }
    if (before !== null) conditions.push(`id < ${bind(before)}`);
    const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
    const rows = await this.#sql.query<Row>(
      `SELECT ${AUDIT.columns.join(', ')} FROM audit${where} ORDER BY id DESC LIMIT ${bind(limit)}`,
      ...parameters,
    );
    return rows.map(AUDIT.from);
  }

  async prunePeople(
    now: Instant,
    seenBefore: Instant,
    failedBefore: Instant,
    rememberedBefore: Instant,
    auditBefore: Instant | null,
  ): Promise<'done' | 'more'> {
    const firstAudit = auditBefore === null ? '' : firstIdAt('aud', auditBefore);
    await this.#sql.run([
      ['pruneSessions', null, now, seenBefore],
      ['pruneInvitations', null, now],
      ['pruneFailureCounts', null, failedBefore, rememberedBefore],
      ['pruneAudit', null, firstAudit],
    ]);
    const left = await this.#sql.query(
      `SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM sessions WHERE expires_at <= $1 OR seen_at < $2)
         OR EXISTS (SELECT 1 FROM invitations WHERE expires_at <= $3)
         OR EXISTS (SELECT 1 FROM failure_counts
           WHERE last_at < $4 AND (failures > 0 OR last_at < $5))
         OR EXISTS (SELECT 1 FROM audit WHERE id < $6)`,
      now,
      seenBefore,
      now,
      failedBefore,
      rememberedBefore,
      firstAudit,
    );
    return left.length > 0 ? 'more' : 'done';
  }
}

function first<T>([one]: readonly T[]): T | null {
  return one ?? null;
}

/** The last admin of all projects cannot be removed. */
function isFullAdmin({ role, projects }: User): boolean {
  return role === 'admin' && projects === null;
}

function adminStays(id: UserId): readonly Step[] {
  return [
    ['lockAdmins', null],
    ['adminStays', 'last_admin', id],
  ];
}

/** Rows are locked in the same order by every transaction, so that none waits for another in a circle. */
function bySubject({ subject: one }: FailureCountsChange, { subject: other }: FailureCountsChange): number {
  return one < other ? -1 : Number(one > other);
}
