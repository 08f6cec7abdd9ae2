import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkedUrl, parseProfiles, profilePath, readProfiles, writeProfiles } from './profile-file.ts';

const root = mkdtempSync(join(tmpdir(), 'sched-profiles-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const STAGING = { url: 'https://staging.example.com', apiKey: 'sk_test_staging0123456789' };
const PROFILES = { current: 'staging', byName: new Map([['staging', STAGING]]) };
const quiet = () => {};

test('the file is where SCHED_CONFIG says, else among the settings of the user', () => {
  expect(profilePath({ SCHED_CONFIG: '/x/p.json', XDG_CONFIG_HOME: '/y' })).toBe('/x/p.json');
  expect(profilePath({ SCHED_CONFIG: '', XDG_CONFIG_HOME: '/y' })).toBe('/y/sched/profiles.json');
  expect(profilePath({})).toMatch(/\/\.config\/sched\/profiles\.json$/);
});

test('what was written is read again, by its owner alone, and nothing is left beside it', async () => {
  const path = join(root, 'new/folder/profiles.json');
  await writeProfiles(path, { current: null, byName: new Map() });
  await writeProfiles(path, PROFILES);
  expect(await readProfiles(path, quiet)).toEqual(PROFILES);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(root, 'new/folder')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(root, 'new/folder'))).toEqual(['profiles.json']);
});

test('no file is no profiles', async () => {
  expect(await readProfiles(join(root, 'nowhere.json'), quiet)).toEqual({ current: null, byName: new Map() });
});

test('a file that others can read is told about, and written again for its owner alone', async () => {
  const path = join(root, 'open.json');
  await writeProfiles(path, PROFILES);
  chmodSync(path, 0o644);
  const told: string[] = [];
  await readProfiles(path, (line) => told.push(line));
  expect(told).toEqual([expect.stringContaining(`chmod 600 ${path}`)]);
  await writeProfiles(path, PROFILES);
  await readProfiles(path, (line) => told.push(line));
  expect(told).toHaveLength(1);
});

test('what cannot be written is said, and the file before it stays', async () => {
  const folder = join(root, 'a-folder.json');
  mkdirSync(folder);
  await expect(writeProfiles(folder, PROFILES)).rejects.toThrow('The profiles cannot be written');
  expect(readdirSync(root).filter((name) => name.startsWith('a-folder.json.'))).toEqual([]);
});

test.each([
  ['nonsense', 'it is not JSON'],
  ['[]', '"profiles" must be an object'],
  ['{"profiles":[]}', '"profiles" must be an object'],
  ['{"profiles":{"a":{"url":"https://example.com"}}}', 'a "url" and an "api_key"'],
  ['{"profiles":{"Not A Name":{"url":"https://e.com","api_key":"sk_test_0123456789abcdef"}}}', 'has a name'],
  ['{"profiles":{"a":{"url":"https://e.com","api_key":"short"}}}', 'the key of profile a must be an API key'],
  ['{"profiles":{"a":{"url":"e.com","api_key":"sk_test_0123456789abcdef"}}}', 'must be an address'],
  ['{"current":"b","profiles":{}}', '"current" must name one of them'],
])('%j is refused whole', async (text, why) => {
  expect(() => parseProfiles(text, 'profiles.json')).toThrow(why);
  const path = join(root, 'refused.json');
  writeFileSync(path, text, { mode: 0o600 });
  await expect(readProfiles(path, quiet)).rejects.toThrow(why);
});

test.each([
  ['https://example.com', 'https://example.com'],
  ['https://EXAMPLE.com/sched//', 'https://example.com/sched'],
  ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
])('%s is %s', (text, url) => {
  expect(checkedUrl(text, '--url')).toBe(url);
});

test.each([
  '',
  'example.com',
  'ftp://example.com',
  'https://a:b@example.com',
  'https://example.com/?a',
  'https://example.com/#a',
])('%j is no address of a service', (text) => {
  expect(() => checkedUrl(text, '--url')).toThrow('--url must be an address');
});
