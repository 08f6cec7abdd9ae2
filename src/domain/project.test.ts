import { describe, expect, test } from 'vitest';
import { CURRENT_VERSION, VERSIONS, versionFor } from './project.ts';

test('versions are dates, oldest first, and the newest is the current one', () => {
  expect([...VERSIONS].toSorted()).toEqual(VERSIONS);
  expect(new Set(VERSIONS).size).toBe(VERSIONS.length);
  expect(CURRENT_VERSION).toBe(VERSIONS.at(-1));
  for (const version of VERSIONS) expect(versionFor(version)).toBe(version);
});

describe('a date is served by', () => {
  test('the newest version not after it', () => {
    for (const date of ['9999-12-31', '2400-02-29']) expect(versionFor(date)).toBe(CURRENT_VERSION);
  });

  test('the first version when it is before all', () => {
    for (const date of ['2000-01-01', '1970-01-01', '0001-01-01', '2024-02-29']) {
      expect(versionFor(date)).toBe(VERSIONS[0]);
    }
  });
});

test.for([
  '',
  'latest',
  '2026-11',
  '2026-11-15T00:00:00Z',
  '2026-1-5',
  '26-11-15',
  '02026-11-15',
  '2026/11/15',
  '2026-00-10',
  '2026-13-01',
  '2026-11-00',
  '2026-11-31',
  '2026-02-29',
  '2100-02-29',
  ' 2026-11-15',
  '2026-11-15 ',
  '2026-11-15\n',
  '-2026-11-15',
  '٢٠٢٦-١١-١٥',
])('%j is not a real date', (date) => {
  expect(versionFor(date)).toBeNull();
});
