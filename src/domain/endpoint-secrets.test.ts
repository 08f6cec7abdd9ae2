import { describe, expect, test } from 'vitest';
import {
  creation,
  type EndpointSecretTerm,
  LIVE_SECRETS_MAX,
  removal,
  rotation,
  type SecretsChange,
  type SecretTerm,
  signersAt,
  signersFrom,
} from './endpoint-secrets.ts';
import { type Instant, instant } from './instant.ts';

const NOW = instant(1_000_000);
const HOUR_MS = 3_600_000;

interface Named {
  readonly name: string;
}

const PROJECTS: readonly (SecretTerm & Named)[] = [{ name: 'project', expiresAt: null }];

function own(name: string, aloneFrom: Instant | null, expiresAt: Instant | null = null) {
  return { name, aloneFrom, expiresAt };
}

function later(ms: number): Instant {
  return instant(NOW + ms);
}

function signers(secrets: readonly (EndpointSecretTerm & Named)[], now: Instant): readonly string[] {
  return signersAt(PROJECTS, secrets, now).map(({ name }) => name);
}

/** Returns the profile's secrets after a change, newest first. */
function changedBy<Own extends EndpointSecretTerm & Named>(
  before: readonly Own[],
  change: SecretsChange<Own> | string,
  added: string | null,
): readonly (EndpointSecretTerm & Named)[] {
  if (typeof change === 'string') throw new Error(`It was refused: ${change}.`);
  const changes = new Map(change.ended.map((secret) => [secret.name, secret]));
  const kept = before.map((secret) => changes.get(secret.name) ?? secret);
  expect(change.added === null).toBe(added === null);
  return added === null ? kept : [own(added, change.added?.aloneFrom ?? null), ...kept];
}

describe('the secrets that sign for a profile', () => {
  test("are the project's when the profile has no live one", () => {
    expect(signers([], NOW)).toEqual(['project']);
    expect(signers([own('ended', NOW, NOW)], NOW)).toEqual(['project']);
  });

  test("are the profile's and the project's, and from aloneFrom on only the profile's", () => {
    const secrets = [own('own', later(HOUR_MS))];
    expect(signers(secrets, later(HOUR_MS - 1))).toEqual(['own', 'project']);
    expect(signers(secrets, later(HOUR_MS))).toEqual(['own']);
  });

  test('exclude ended ones of the project, and include all live ones of the profile', () => {
    const projects = [...PROJECTS, { name: 'old project', expiresAt: NOW }];
    const secrets = [own('new', null), own('old', null, later(1)), own('older', NOW, NOW)];
    expect(signersAt(projects, secrets, NOW).map(({ name }) => name)).toEqual(['new', 'old', 'project']);
  });

  test("are only the profile's while one of its live secrets is alone", () => {
    expect(signers([own('new', later(1)), own('old', NOW, later(1))], NOW)).toEqual(['new', 'old']);
  });
});

describe('the secrets that sign now or will sign', () => {
  const from = (secrets: readonly (EndpointSecretTerm & Named)[], now: Instant) =>
    signersFrom(PROJECTS, secrets, now).map(({ name }) => name);

  test("are the project's while the profile has no secret that is alone for good", () => {
    expect(from([], NOW)).toEqual(['project']);
    expect(from([own('own', null)], NOW)).toEqual(['own', 'project']);
    expect(from([own('own', later(1))], NOW)).toEqual(['own', 'project']);
    expect(from([own('own', later(1))], later(1))).toEqual(['own']);
    expect(from([own('new', NOW), own('old', NOW, later(1))], NOW)).toEqual(['new', 'old']);
    expect(from([own('ending', NOW, later(1))], NOW)).toEqual(['ending', 'project']);
    expect(from([own('ended', NOW, NOW)], NOW)).toEqual(['project']);
  });

  test('include every secret that signs later', () => {
    const secrets = [own('own', later(5)), own('ending', NOW, later(3))];
    const all = from(secrets, NOW);
    for (let ms = 0; ms < 10; ms++) {
      for (const name of signers(secrets, later(ms))) expect(all).toContain(name);
    }
  });
});

describe('a first secret', () => {
  test('is refused while the profile has a current one', () => {
    expect(creation([own('own', NOW)], later(1), NOW)).toBe('in_force');
  });

  test('may be created while removed ones still sign, and they keep their end', () => {
    const removed = [own('removed', null, later(HOUR_MS))];
    const secrets = changedBy(removed, creation(removed, later(2 * HOUR_MS), NOW), 'fresh');
    expect(signers(secrets, NOW)).toEqual(['fresh', 'removed', 'project']);
    expect(signers(secrets, later(HOUR_MS))).toEqual(['fresh', 'project']);
    expect(signers(secrets, later(2 * HOUR_MS))).toEqual(['fresh']);
  });

  test('is refused when the maximum of live secrets is reached', () => {
    const removed = Array.from({ length: LIVE_SECRETS_MAX }, (_, n) => own(`${n}`, null, later(1)));
    expect(creation(removed, later(1), NOW)).toBe('too_many');
    expect(creation(removed, later(2), later(1))).not.toBe('too_many');
  });
});

describe('a rotation', () => {
  test('of a secret that is alone leaves both alone, and then the new one', () => {
    const before = [own('old', NOW)];
    const secrets = changedBy(before, rotation(before, later(HOUR_MS), NOW), 'new');
    expect(signers(secrets, NOW)).toEqual(['new', 'old']);
    expect(signers(secrets, later(HOUR_MS))).toEqual(['new']);
  });

  test("keeps the instant from which the project's secrets no longer sign", () => {
    const before = [own('old', later(2 * HOUR_MS))];
    const secrets = changedBy(before, rotation(before, later(HOUR_MS), NOW), 'new');
    expect(signers(secrets, NOW)).toEqual(['new', 'old', 'project']);
    expect(signers(secrets, later(HOUR_MS))).toEqual(['new', 'project']);
    expect(signers(secrets, later(2 * HOUR_MS))).toEqual(['new']);
  });

  test('without an overlap leaves only the new one, also of those that were to sign longer', () => {
    const before = [own('old', NOW), own('older', NOW, later(HOUR_MS))];
    expect(signers(changedBy(before, rotation(before, NOW, NOW), 'new'), NOW)).toEqual(['new']);
  });

  test('never makes an end later', () => {
    const before = [own('old', NOW), own('older', NOW, later(1))];
    const secrets = changedBy(before, rotation(before, later(HOUR_MS), NOW), 'new');
    expect(signers(secrets, later(1))).toEqual(['new', 'old']);
  });

  test('needs a current secret', () => {
    expect(rotation([], later(1), NOW)).toBe('none_in_force');
    expect(rotation([own('removed', null, later(1))], later(1), NOW)).toBe('none_in_force');
  });

  test('is refused when too many would sign, but not without an overlap', () => {
    const old = Array.from({ length: LIVE_SECRETS_MAX - 1 }, (_, n) => own(`${n}`, NOW, later(HOUR_MS)));
    const before = [own('in force', NOW), ...old];
    expect(rotation(before, later(HOUR_MS), NOW)).toBe('too_many');
    expect(signers(changedBy(before, rotation(before, NOW, NOW), 'new'), NOW)).toEqual(['new']);
  });
});

describe('a removal', () => {
  test("brings the project's secrets back at once, and leaves them alone after the overlap", () => {
    const before = [own('new', NOW), own('old', NOW, later(1))];
    const secrets = changedBy(before, removal(before, later(HOUR_MS), NOW), null);
    expect(signers(secrets, NOW)).toEqual(['new', 'old', 'project']);
    expect(signers(secrets, later(1))).toEqual(['new', 'project']);
    expect(signers(secrets, later(HOUR_MS))).toEqual(['project']);
  });

  test('needs a live secret', () => {
    expect(removal([], later(1), NOW)).toBe('none_in_force');
    expect(removal([own('ended', NOW, NOW)], later(1), NOW)).toBe('none_in_force');
  });

  test('may shorten the overlap of the removal before', () => {
    const before = [own('removed', null, later(HOUR_MS))];
    expect(signers(changedBy(before, removal(before, NOW, NOW), null), NOW)).toEqual(['project']);
  });
});
