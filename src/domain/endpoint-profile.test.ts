import { describe, expect, test } from 'vitest';
import { Builders } from '#test/store-contract/builders.ts';
import {
  archiveProfile,
  BREAKER_BOUNDS,
  DEFAULT_BREAKER_POLICY,
  DEFAULT_RETRY_BUDGET,
  DEFAULT_TIMEOUT_MS,
  editProfile,
  type ProfileEdit,
  TIMEOUT_MAX_MS,
} from './endpoint-profile.ts';
import type { Partition } from './project.ts';
import { DEFAULT_RETRY_POLICY } from './retry.ts';

const build = new Builders(1 as Partition);
const HOUR_MS = 3_600_000;

test('the defaults and bounds are those of the specification', () => {
  expect(DEFAULT_TIMEOUT_MS).toBe(30_000);
  expect(TIMEOUT_MAX_MS).toBe(HOUR_MS);
  expect(DEFAULT_RETRY_BUDGET).toEqual({ rate: 10, burst: 100 });
  expect(DEFAULT_BREAKER_POLICY).toEqual({
    threshold: 5,
    baseOpen: '30s',
    maxOpen: '1h',
    probeTimeout: '30s',
  });
  expect(BREAKER_BOUNDS).toEqual({ threshold: { min: 1, max: 1000 }, windowMaxMs: 24 * HOUR_MS });
});

describe('an edit', () => {
  const edits: readonly ProfileEdit[] = [
    {},
    { url: 'https://example.com/new' },
    { method: 'DELETE' },
    { headerNames: ['x-new'] },
    { timeout: '5s' },
    { timeout: null },
    { retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts: 1 } },
    { retryBudget: { rate: 0, burst: 0 } },
    { rateLimit: { perSecond: 0.5 } },
    { breakerPolicy: DEFAULT_BREAKER_POLICY },
    { metadata: [['a', 'b']] },
  ];

  test.for(edits)('%o makes a new version, and keeps the other fields', (edit) => {
    const profile = build.profile({ timeout: '1s', metadata: [['old', 'label']] });
    const now = build.tick(5_000);
    expect(editProfile(profile, edit, now)).toEqual({
      ...profile,
      ...edit,
      version: 2,
      updatedAt: now,
      revision: 2,
    });
  });

  test('of an archived profile is allowed, and leaves it archived', () => {
    const archived = archiveProfile(build.profile(), build.tick());
    expect(editProfile(archived, { timeout: '5s' }, build.tick())).toMatchObject({
      archived: true,
      version: 2,
    });
  });
});

describe('archiving', () => {
  test('makes no new version', () => {
    const profile = build.profile();
    const now = build.tick(5_000);
    expect(archiveProfile(profile, now)).toEqual({ ...profile, archived: true, updatedAt: now, revision: 2 });
  });

  test('of an archived profile changes nothing', () => {
    const archived = archiveProfile(build.profile(), build.tick());
    expect(archiveProfile(archived, build.tick())).toBe(archived);
  });
});
