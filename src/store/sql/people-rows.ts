/** The tables of users, invitations, sessions, failed logins and the audit log. */
import type { AuditEntry, FailureCounts, Invitation, Session, User } from '#src/ports/people-store.ts';
import { fixed, json, mapping, plain } from './mapping.ts';

/** Rows of one kind that one transaction removes. Other writes wait for it, so there are few. */
export const PRUNE_BATCH_MAX = 500;

export const USER = mapping<User>({
  id: fixed(plain),
  name: fixed(plain),
  createdAt: fixed(plain),
  role: plain,
  projects: json,
  passwordHash: plain,
  passwordChangedAt: plain,
  revision: plain,
});

export const INVITATION = mapping<Invitation>({
  id: plain,
  hash: plain,
  role: plain,
  projects: json,
  createdBy: plain,
  createdAt: plain,
  expiresAt: plain,
});

export const SESSION = mapping<Session>({
  hash: plain,
  userId: plain,
  createdAt: plain,
  seenAt: plain,
  expiresAt: plain,
  address: plain,
  agent: plain,
});

export const FAILURE_COUNTS = mapping<FailureCounts>({
  subject: fixed(plain),
  failures: plain,
  lastAt: plain,
});

export const AUDIT = mapping<AuditEntry>({
  id: plain,
  at: plain,
  userId: plain,
  actor: plain,
  action: plain,
  subject: plain,
  projectId: plain,
  mode: plain,
  detail: json,
  address: plain,
  peer: plain,
  outcome: plain,
  code: plain,
});
